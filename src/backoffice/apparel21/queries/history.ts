import type { SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import { pagesOf } from '../client/pagination.ts'
import { transactionRowsFrom } from '../mapping/transactions.ts'
import { translated } from '../xml/untranslatable.ts'
import { text } from '../xml/values.ts'

/** What the back office tells of one customer's sales. */
interface History {
  rows: SyncRows['transactions'][]
  /** Why sales cannot be taken, an entry each. */
  rejected: string[]
}

/** The sales of one customer, all of them: there is no list of everybody's, and none of what changed. */
export async function historyOf(
  client: Client,
  customerId: string,
  { currency, signal }: { currency: string; signal: AbortSignal },
): Promise<History> {
  const pages = pagesOf(client, {
    endpoint: 'transactions',
    path: ['Persons', customerId, 'RetailTransactions'],
    signal,
    roots: ['Transactions'],
    record: 'Transaction',
    keyOf: transaction => text(transaction, 'Id') ?? '',
  })
  const found = (await Array.fromAsync(pages)).flat()
  const { rows, rejected } = translated(found, one => transactionRowsFrom(one, customerId, currency))
  return { rows: rows.flat(), rejected }
}
