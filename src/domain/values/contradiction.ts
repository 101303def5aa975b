/**
 * Thrown if a row contradicts stored data in a way that no table constraint can express. Handled like the violation of a constraint with
 * this name (SQLSTATE 23000).
 */
export class Contradiction extends Error {
  readonly code = '23000'
  readonly constraint: string
  constructor(constraint: string) {
    super(`row violates ${constraint}`)
    this.constraint = constraint
  }
}
