/**
 * What stands against a row and a table cannot say by itself: thrown in the transaction that would write it, as if a constraint of that
 * name did (SQLSTATE 23000).
 */
export class Contradiction extends Error {
  readonly code = '23000'
  readonly constraint: string
  constructor(constraint: string) {
    super(`a row contradicts what is there: ${constraint}`)
    this.constraint = constraint
  }
}
