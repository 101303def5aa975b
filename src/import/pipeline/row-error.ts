/** The reason why a row is rejected. */
export class RowError {
  /** Follows the name of the column, and can be stored: it has no content of the row. */
  readonly message: string
  /** Our name of the column. Empty if the error is about the whole row. */
  readonly column: string
  /** The value that is wrong, or the value that is right. */
  readonly value: unknown

  constructor(message: string, column = '', value?: unknown) {
    this.message = message
    this.column = column
    this.value = value
  }

  get messageWithValue(): string {
    return this.value === undefined ? this.message : `${this.message}: ${this.value}`
  }

  withColumn(column: string): RowError {
    return new RowError(this.message, column, this.value)
  }
}
