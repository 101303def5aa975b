import type { Keys } from '../../crypto/keys.ts'
import type { Database, Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { List, Upserted } from '../../store/lists/change-timestamp.ts'
import type { WriteContext } from '../../store/lists/outdated.ts'
import type { Notes } from './counts.ts'
import type { RowError } from './row-error.ts'

/** A validated row by our column names. A missing column keeps the stored value, null clears it. */
export type Row = Readonly<Record<string, unknown>>

export interface Prepared {
  /** The inputs of the store function, or errors. For files, one per row, in their order. */
  inputs: readonly (object | RowError)[]
  notes?: Readonly<Notes>
  /** Rows that are neither stored nor rejected, by remark. */
  skipped?: Readonly<Notes>
}

/** Converts rows to inputs of the store. Looks up all references in few queries. `keys` are set if rows can have secrets. */
export type Prepare<R> = (db: Db, service: Service, rows: readonly R[], keys?: Keys) => Promise<Prepared>

export const prepareUnchanged: Prepare<object> = async (_db, _service, rows) => ({ inputs: rows })

/** How rows of a type are stored. */
export interface Ingestion<R> {
  prepare: Prepare<R>
  /** Stores the inputs of `prepare`. Equal records aren't counted. */
  // biome-ignore lint/suspicious/noExplicitAny: each store function has an input type of its own, which `prepare` makes
  write(db: Database, service: Service, inputs: readonly any[], context: WriteContext): Promise<Upserted>
  /**
   * The keys and unique values of an input. Two batches of an initial load with disjoint claims are written concurrently. Later loads have
   * no concurrency, because a row can need a value that another row releases.
   */
  // biome-ignore lint/suspicious/noExplicitAny: see `write`
  claims?(input: any): readonly string[]
  /** Set if the unique values of inputs can belong to other records: returns the claims of the stored records that have them. */
  // biome-ignore lint/suspicious/noExplicitAny: see `write`
  findOwners?(db: Db, service: Service, inputs: readonly any[]): Promise<readonly string[]>
  /** The list of the records, if they can have times of their source. */
  list?: List
  /** The unique constraint whose values inputs can exchange, and the function that finds groups of inputs that do, by their places. */
  exchanges?: {
    constraint: string
    // biome-ignore lint/suspicious/noExplicitAny: see `write`
    findGroups(db: Db, service: Service, inputs: readonly any[]): Promise<number[][]>
  }
  /** Columns by constraint: a row that violates it is stored with null in the column. */
  clears?: Readonly<Record<string, string>>
}
