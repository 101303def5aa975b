import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { type Generated, customers as madeCustomers, transactions as madeTransactions } from '../support/records.ts'

/** A list of the trial: its records are made, each as a whole list tells it. */
export interface List {
  kind: 'customers' | 'transactions'
  table: string
  /** How many of the columns, the last ones, are its text. */
  texts: number
  made: Generated
  /** The record of this place among them, as a row that nobody has committed yet: who comes to write it waits. */
  row: (place: number) => { columns: string; values: string }
}

export const lists: readonly List[] = [
  {
    kind: 'customers',
    table: 'customer',
    texts: 2,
    made: madeCustomers,
    row: place => ({ columns: 'id, changed_at, record, ecommerce_ids', values: `'${100_001 + place}', now(), '', ''` }),
  },
  {
    kind: 'transactions',
    table: 'retail_transaction',
    texts: 1,
    made: madeTransactions,
    row: place => ({ columns: 'id, sale_date, changed_at, record', values: `'${200_001 + place}', now(), now(), ''` }),
  },
]

/** Writes so many records of a list into a file, one a line. */
export async function writeRecords({ made, texts }: List, count: number, path: string) {
  const out = createWriteStream(path, { highWaterMark: 1 << 20 })
  for (const row of made.rows(0, count)) if (!out.write(`${row.slice(-texts).join('')}\n`)) await once(out, 'drain')
  out.end()
  await once(out, 'close')
}
