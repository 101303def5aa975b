import type { SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import { readPages } from '../client/pagination.ts'
import { parseTransaction } from '../mapping/transactions.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { readText } from '../xml/values.ts'

/** The sales of one customer. */
interface History {
  rows: SyncRows['transactions'][]
  /** One reason per rejected sale. */
  rejected: string[]
}

/** Fetches all sales of one customer. The Retail API has no list of all sales, and none of changed sales. */
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
  const records = (await Array.fromAsync(pages)).flat()
  const { rows, rejected } = convertRecords(records, record => parseTransaction(record, customerId, currency))
  return { rows: rows.flat(), rejected }
}
