/**
 * A row that contradicts what is stored in a way that no constraint of a table can tell. Thrown in the transaction that would write the
 * row, as if a constraint of that name had refused it (SQLSTATE 23000).
 */
export class Contradiction extends Error {
  readonly code = '23000'
  readonly constraint: string
  constructor(constraint: string) {
    super(`a row contradicts what is there: ${constraint}`)
    this.constraint = constraint
  }
}
