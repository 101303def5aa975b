import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { ImportEnd } from '../../store/mappings/platform-items.ts'
import type { CompleteList } from '../../store/sync/remove-unseen.ts'
import type { Ingestion, Row } from './ingest.ts'
import type { RowError } from './row-error.ts'
import type { Rule } from './rules.ts'

/** One kind of file that can be imported. */
export interface ImportType extends Ingestion<Row> {
  /** The record that one line describes, such as `One price of a SKU.`: the first sentences of the type's documentation. */
  description: string
  /** Rules for several columns, in the documentation. */
  remarks?: string
  shape: { properties: object; required: readonly string[] }
  /** The columns that identify a line. If they repeat, the later line wins. */
  key: readonly string[]
  /**
   * Columns whose values a ledger records, or that name a further record of the line. Lines with the same key that differ in them are imported
   * one after the other.
   */
  separateColumns?: readonly string[]
  /** Returns the values of other columns that a row sets implicitly. They stay if a later line with the same key doesn't have the columns. */
  listImplied?: (row: Row) => Row
  /** Neighbouring lines with the same value in this column, such as `productId`, are in one batch. */
  together?: string
  /** Set if these lines are one record, imported completely or not at all: the error of a valid line if another line is rejected. */
  incompleteRecordError?: RowError
  /** Set if `key` is empty because the type joins or replaces lines with the same key within a batch: that key, for the documentation. */
  documentedKey?: readonly string[]
  /** The role that the API requires. Absent: any role that can write. */
  role?: 'admin'
  /** Columns that map or configure, for which the API requires `admin`. */
  adminColumns?: readonly string[]
  /** True for records of an earlier system, which only the embedded back office can use. */
  isOnboarding?: true
  /** Optional columns that can't be null: an empty cell keeps the stored value. In other optional columns, it clears the value. */
  keptIfEmpty?: readonly string[]
  /** The required column whose empty cells are null. In other required columns, an empty cell is an error. */
  nullableColumn?: string
  /** The names of our columns in exports of other systems, in any case. */
  columnAliases?: Readonly<Record<string, readonly string[]>>
  /** Further columns that CSV files can have. */
  ignoredColumns?: readonly string[] | 'all'
  /** Set if a file can be declared complete: the list that loses missing records, and the key that each input has in it. */
  // biome-ignore lint/suspicious/noExplicitAny: each store function has an input type of its own, which `prepare` makes
  complete?: { list: CompleteList; getId(input: any): string }
  /** True if each file of this type is complete, without a declaration: it replaces the previous file. `open` removes missing records. */
  replacesPrevious?: true
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
