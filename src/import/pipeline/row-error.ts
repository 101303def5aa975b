/** Why a row is rejected. */
export class RowError {
  /** Said after our name of the `column`; it may be kept: what stands in the row is not in it. */
  readonly kept: string
  /** Empty where it is the row as a whole. */
  readonly column: string
  /** What the row has, or should have, of one row alone. */
  readonly found: unknown

  constructor(kept: string, column = '', found?: unknown) {
    this.kept = kept
    this.column = column
    this.found = found
  }

  /** The whole of it, said after our name of the column. */
  get text(): string {
    return this.found === undefined ? this.kept : `${this.kept}: ${this.found}`
  }

  /** The same of a column. */
  of(column: string): RowError {
    return new RowError(this.kept, column, this.found)
  }
}
