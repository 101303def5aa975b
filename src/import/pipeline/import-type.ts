import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { ImportEnd } from '../../store/mappings/platform-items.ts'
import type { CompleteList } from '../../store/sync/remove-unseen.ts'
import type { Ingestion, Row } from './ingest.ts'
import type { RowError } from './row-error.ts'
import type { Rule } from './rules.ts'

/** One kind of file that can be imported. */
export interface ImportType extends Ingestion<Row> {
  /** The record of a line, in a sentence of the documentation. */
  description: string
  /** Rules for several columns, in the documentation. */
  remarks?: string
  shape: { properties: object; required: readonly string[] }
  /** The columns that identify a line. If they repeat, the later line is imported in a later batch. */
  key: readonly string[]
  /** Neighbouring lines with the same value in this column are in one batch. */
  together?: string
  /** Set if these lines are one record, of which all or none are imported: the error of a valid line of a rejected record. */
  rejectedWithRecord?: RowError
  /** The key in the documentation, if `key` is empty because the store merges lines. */
  documentedKey?: readonly string[]
  /** The role that the API requires. Absent: any role that can write. */
  role?: 'admin'
  /** Columns that map or configure, for which the API requires `admin`. */
  adminColumns?: readonly string[]
  /** True for records of an earlier system, which only the embedded back office can use. */
  isOnboarding?: true
  /** Optional columns that can't be null: an empty cell keeps the stored value. */
  keptIfEmpty?: readonly string[]
  /** The names of our columns in exports of other systems, in any case. */
  titles?: Readonly<Record<string, readonly string[]>>
  /** Further columns that CSV files can have. */
  ignoredColumns?: readonly string[] | 'all'
  /** Set if a file can be declared complete: the list that loses missing records, and the key that each input has in it. */
  // biome-ignore lint/suspicious/noExplicitAny: each store function has an input type of its own, which `prepare` makes
  complete?: { list: CompleteList; getId(input: any): string }
  /** True if each file is complete: records that are missing in it are removed. */
  replaces?: true
  /** The required column whose empty cells are null. */
  nullableColumn?: string
  /**
   * Called before the first line of a file. The returned function is called after the last line or an interruption, and returns the number
   * of records that were removed because they are missing in the file.
   */
  open?: (db: Database, service: Service) => Promise<(ended: ImportEnd) => Promise<number>>
  /** Identifiers that occur in paths of the API. */
  pathColumns?: readonly string[]
  rule?: Rule
  /** Returns remarks about values that are stored although they are doubtful. */
  listDoubts?: (row: Row) => readonly string[]
  /** Values of the two example lines that differ from the columns' examples. The second line repeats shared values. */
  examples: readonly [Record<string, string>, Record<string, string>]
}
