import type { Keys } from '../../crypto/keys.ts'
import type { Database, Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { List, Upserted } from '../../store/lists/change-timestamp.ts'
import type { Notes } from './counts.ts'
import type { RowError } from './row-error.ts'

/** A validated row by our column names; a column that is not given is missing, null clears. */
export type Row = Readonly<Record<string, unknown>>

/** What rows come to. */
export interface Prepared {
  /** What the store takes, or why it cannot. Where rows have lines, there is one for each, in their order. */
  inputs: readonly (object | RowError)[]
  notes?: Readonly<Notes>
  /** The number of skipped rows per reason. */
  skipped?: Readonly<Notes>
}

/** Makes of rows what the store takes; what has to be looked up is looked up for all at once. `keys` are there where rows have secrets. */
export type Prepare<R> = (db: Db, service: Service, rows: readonly R[], keys?: Keys) => Promise<Prepared>

export const unchangedRows: Prepare<object> = async (_db, _service, rows) => ({ inputs: rows })

/** How rows of a type get into the store. */
export interface Ingestion<R> {
  prepare: Prepare<R>
  /** Puts in what `prepare` made. What is there just so is not counted. */
  // biome-ignore lint/suspicious/noExplicitAny: each store function has an input type of its own, which `prepare` makes
  write(db: Database, service: Service, inputs: readonly any[]): Promise<Upserted>
  /**
   * What an input claims: where two claim the same, the order in which they go in decides, so that they are not put in at the same time. Where
   * it is given, batches of a first load go in two at a time. In a later one rows often need what others give up, which is not claimed.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as of `write`
  apart?(input: any): readonly string[]
  /** The list that the records are in, where they may carry times of their source. */
  list?: List
  /** What is put in as null where the constraint of this name refuses it: the record is more than that. */
  clears?: Readonly<Record<string, string>>
}
