import type { Wall } from './clock.ts'

/** Free stock of each SKU (row) in each store (column). */
export interface Stock {
  get(row: number, column: number): number
  /** Returns the sum over all stores. */
  getTotal(row: number): number
  /** Sets a cell and records the time. */
  set(row: number, column: number, quantity: number, when: Wall): void
  /** Yields the changed rows of a column with the time of their last change. */
  listChanges(column: number): Iterable<{ row: number; when: Wall }>
  /** Counts the cells with stock. */
  countPositive(): number
}

export function makeStock(rows: number, columns: number): Stock {
  // A large shop has five million cells, so they are numbers in one array instead of objects.
  const cells = new Int32Array(rows * columns)
  const changed = Array.from({ length: columns }, () => new Map<number, Wall>())
  return {
    get: (row, column) => cells[row * columns + column] ?? 0,
    getTotal(row) {
      let sum = 0
      for (let cell = row * columns; cell < (row + 1) * columns; cell++) sum += cells[cell] ?? 0
      return sum
    },
    set(row, column, quantity, when) {
      cells[row * columns + column] = quantity
      if (when > 0) changed[column]?.set(row, when)
    },
    *listChanges(column) {
      for (const [row, when] of changed[column] ?? []) yield { row, when }
    },
    countPositive() {
      let count = 0
      for (const cell of cells) if (cell > 0) count++
      return count
    },
  }
}
