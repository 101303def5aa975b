import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { ImportEnd } from '../../store/mappings/platform-items.ts'
import type { Ingestion, Row } from './ingest.ts'
import type { RowError } from './row-error.ts'
import type { Rule } from './rules.ts'

/** What lines can be imported: one table of a back office. */
export interface ImportType extends Ingestion<Row> {
  /** What a line is. */
  description: string
  /** What its columns cannot say for themselves. */
  remarks?: string
  shape: { properties: object; required: readonly string[] }
  /** The columns that tell lines apart; where they repeat, the later line is put in after the earlier one. */
  key: readonly string[]
  /** Neighbouring lines with the same value in this column go in together. */
  together?: string
  /** The lines that go in together are one record, all of them or none: why one is rejected with which nothing is wrong. */
  whole?: RowError
  /** What the page says tells lines apart, where `key` leaves that to the store. */
  toldApart?: readonly string[]
  /** Who may import it over the API; absent: whoever may write. */
  role?: 'admin'
  /** Columns that map or configure: over the API only admins give them. */
  ofAdmins?: readonly string[]
  /** It comes from an earlier system, and is of use to the embedded back office alone. */
  isOnboarding?: true
  /** Optional columns that the table cannot do without: an empty cell leaves what is stored. */
  kept?: readonly string[]
  /** What exports of other systems call columns of ours, in whatever case. */
  titles?: Readonly<Record<string, readonly string[]>>
  /** Columns of CSV files that need not be known, beside those that an option names. */
  passesOver?: readonly string[] | 'all'
  /** A file is all that there is: what the one before had and this one has not is gone. */
  replaces?: true
  /** The required column whose cells may be empty: that is null. */
  mayBeEmpty?: string
  /**
   * Called before the first line of a file; what it answers is called once the last one is in, or the file has broken off, and returns how many records are gone
   * because the file does not have them.
   */
  open?: (db: Database, service: Service) => Promise<(ended: ImportEnd) => Promise<number>>
  /** Identifiers that the API has in paths. */
  inPaths?: readonly string[]
  rule?: Rule
  /** What the two lines of the example have instead of the columns' own examples. The second one repeats what is shared. */
  examples: readonly [Record<string, string>, Record<string, string>]
}
