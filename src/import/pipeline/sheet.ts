import type { Field } from './columns.ts'
import type { Row } from './ingest.ts'
import type { RowError } from './row-error.ts'

/** A line of text, taken apart. */
export interface Line {
  /** Where it begins in the file, counted from 1. */
  number: number
  /** A cell for each column of the header: text, or in NDJSON any flat value; undefined where the line does not give it. */
  cells: unknown[]
  /** Why it cannot be read; the cells are then as near to the file as can be. */
  unreadable?: RowError
  /** All of it, where it cannot be taken apart. */
  text?: string
  /** The cells hold bytes, one a character, because they are no UTF-8. */
  bytes?: true
  /** What is wrong with it apart from its cells. */
  reasons?: RowError[]
  size: number
}

/** A line with its row, or with all that is wrong with it. */
export interface ValidatedRow {
  line: Line
  row?: Row
  reasons?: RowError[]
}

/** Lines, and which of their cells are ours: a file that is opened as far as its header, or what is made of an export. */
export interface Sheet {
  /** The columns of the lines. */
  header: string[]
  fields: Field[]
  /** A line may leave out columns that another one gives. */
  sparse: boolean
  /** The lines are what an earlier import has rejected; of NDJSON it is known once they are read. */
  isRest?: boolean
  lines: AsyncIterable<Line[]>
  /** The lines as validated batches, if another thread reads them. `lines` is then empty. */
  batches?: AsyncGenerator<ValidatedRow[]>
  /** Ends the thread that reads the lines. */
  close?(): Promise<void>
}
