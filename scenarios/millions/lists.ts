import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import {
  type GeneratedTable,
  customers as generatedCustomers,
  transactions as generatedTransactions,
} from '../support/records.ts'

/** A list of generated records, as a bulk export returns them. */
export interface GeneratedList {
  kind: 'customers' | 'transactions'
  table: string
  /** Number of columns, the last ones, that form the record's JSON. */
  textColumns: number
  generated: GeneratedTable
  /** Columns and values of a row with the ID of the record at a position: an uncommitted row that a writer of the record waits for. */
  row: (position: number) => { columns: string; values: string }
}

export const lists: readonly GeneratedList[] = [
  {
    kind: 'customers',
    table: 'customer',
    textColumns: 2,
    generated: generatedCustomers,
    row: position => ({
      columns: 'id, changed_at, record, ecommerce_ids',
      values: `'${100_001 + position}', now(), '', ''`,
    }),
  },
  {
    kind: 'transactions',
    table: 'retail_transaction',
    textColumns: 1,
    generated: generatedTransactions,
    row: position => ({
      columns: 'id, sale_date, changed_at, record',
      values: `'${200_001 + position}', now(), now(), ''`,
    }),
  },
]

/** Writes records of a list into a file, one a line. */
export async function writeRecords({ generated, textColumns }: GeneratedList, count: number, path: string) {
  const out = createWriteStream(path, { highWaterMark: 1 << 20 })
  for (const row of generated.rows(0, count))
    if (!out.write(`${row.slice(-textColumns).join('')}\n`)) await once(out, 'drain')
  out.end()
  await once(out, 'close')
}
