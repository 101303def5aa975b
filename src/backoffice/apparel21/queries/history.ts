import type { SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import { readPages } from '../client/pagination.ts'
import { parseTransaction } from '../mapping/transactions.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { readText } from '../xml/values.ts'

/** What the back office tells of one customer's sales. */
interface History {
  rows: SyncRows['transactions'][]
  /** Why sales cannot be taken, an entry each. */
  rejected: string[]
}

/** The sales of one customer, all of them: there is no list of everybody's, and none of what changed. */
export async function fetchHistory(
  client: Client,
  customerId: string,
  { currency, signal }: { currency: string; signal: AbortSignal },
): Promise<History> {
  const pages = readPages(client, {
    endpoint: 'transactions',
    path: ['Persons', customerId, 'RetailTransactions'],
    signal,
    roots: ['Transactions'],
    record: 'Transaction',
    getKey: transaction => readText(transaction, 'Id') ?? '',
  })
  const found = (await Array.fromAsync(pages)).flat()
  const { rows, rejected } = convertRecords(found, one => parseTransaction(one, customerId, currency))
  return { rows: rows.flat(), rejected }
}
