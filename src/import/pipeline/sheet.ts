import type { Field } from './columns.ts'
import type { Row } from './ingest.ts'
import type { RowError } from './row-error.ts'

export interface Line {
  /** The line number in the file, from 1. */
  number: number
  /** One cell per column of the header: text, or any flat value in NDJSON. Undefined if the line doesn't have it. */
  cells: unknown[]
  /** Set if the line is malformed. Its cells are then a guess. */
  unreadable?: RowError
  /** The line's text, if it can't be split into cells. */
  text?: string
  /** Set if the line is not UTF-8. Each character of its cells is then one byte. */
  bytes?: true
  /** The reason why the line is no record, as a remark. */
  skipReason?: string
  /** Errors that are not about a cell. */
  errors?: RowError[]
  size: number
}

/** A line with its row, or with all its errors. */
export interface ValidatedRow {
  line: Line
  row?: Row
  /** The errors. A line with neither a row nor errors is no record, so it is skipped. */
  errors?: RowError[]
  /** Set if a later line with the same key replaces the row: the place of that line in the batch. */
  replacedBy?: number
  /** Corrections and doubtful values, for the notes of the run. */
  remarks?: string[]
}

/** The lines of a file or of a converted export, and their columns. */
export interface Sheet {
  /** The columns of the lines. */
  header: string[]
  fields: Field[]
  /** True if lines can have different columns. */
  sparse: boolean
  /** True if the lines were rejected by an earlier import. In NDJSON, it is known only after they are read. */
  isRejectedFile?: boolean
  lines: AsyncIterable<Line[]>
  /** The lines as validated batches, if another thread reads them. `lines` is then empty. */
  batches?: AsyncGenerator<ValidatedRow[]>
  /** Ends the thread that reads the lines. */
  close?(): Promise<void>
}
