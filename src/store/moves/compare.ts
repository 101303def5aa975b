import type { Database } from '../../database/db.ts'
import { captureChangedKeys, readChangedKeys } from './changed-keys.ts'
import { findDifferences, type KeySet, loadTables, removeEqual } from './compare-table.ts'
import type { Move } from './moves.ts'
import { getMoveName, waitUntilCaughtUp } from './replication.ts'

/** A running comparison of a service's rows in two databases. */
export interface Comparison {
  /** Waits until the target has everything that was written so far. Then compares the rows that differed or were written since. */
  update(signal: AbortSignal): Promise<void>
  /** Returns the tables that differed at the last update. */
  differentTables(): string[]
}

/**
 * Compares all rows of a service while they are written. Rows that were equal stay equal until the source's WAL has a change of them, so an
 * update only compares rows that were written since the last one.
 */
export async function startComparison(
  { source, target }: { source: Database; target: Database },
  move: Move,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Comparison> {
  const name = await getMoveName(source, move)
  const tables = await loadTables(source, names)
  await captureChangedKeys(source, name, move, tables)
  // The target must have everything that was written before the keys are recorded.
  await waitUntilCaughtUp({ source, target }, name, signal)
  const keys = new Map<string, KeySet>()
  for (const table of tables) {
    signal.throwIfAborted()
    keys.set(table.name, await findDifferences({ source, target }, move, table))
  }
  return {
    async update(until) {
      await readChangedKeys(source, name, await waitUntilCaughtUp({ source, target }, name, until), keys)
      for (const table of tables) {
        until.throwIfAborted()
        const unequal = keys.get(table.name)
        if (unequal?.size) await removeEqual({ source, target }, table, unequal)
      }
    },
    differentTables: () => [...keys].filter(([, unequal]) => unequal.size).map(([table]) => table),
  }
}
