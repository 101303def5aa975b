import type { Wall } from './clock.ts'

/** Free stock of each SKU (row) in each store (column). */
export interface Stock {
  at(row: number, column: number): number
  /** Over all stores. */
  total(row: number): number
  /** Sets a cell and records the time. */
  set(row: number, column: number, quantity: number, when: Wall): void
  /** The rows of a column that changed, and when. */
  changes(column: number): Iterable<{ row: number; when: Wall }>
  /** Cells with stock. */
  positive(): number
}

export function makeStock(rows: number, columns: number): Stock {
  // One array of five million numbers instead of as many objects.
  const cells = new Int32Array(rows * columns)
  const changed = Array.from({ length: columns }, () => new Map<number, Wall>())
  return {
    at: (row, column) => cells[row * columns + column] ?? 0,
    total(row) {
      let sum = 0
      for (let cell = row * columns; cell < (row + 1) * columns; cell++) sum += cells[cell] ?? 0
      return sum
    },
    set(row, column, quantity, when) {
      cells[row * columns + column] = quantity
      if (when > 0) changed[column]?.set(row, when)
    },
    *changes(column) {
      for (const [row, when] of changed[column] ?? []) yield { row, when }
    },
    positive() {
      let count = 0
      for (const cell of cells) if (cell > 0) count++
      return count
    },
  }
}
