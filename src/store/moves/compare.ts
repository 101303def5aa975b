import type { Database } from '../../database/db.ts'
import { addChanged, followKeys } from './changed-keys.ts'
import { differing, forgetAlike, type Keys, tablesNamed } from './compare-table.ts'
import type { Move } from './moves.ts'
import { caughtUp, nameOfMove } from './replication.ts'

/** What is known of whether a service is the same in two databases. */
export interface Comparison {
  /** Waits until the target has all that was written so far; then compares what differed at the last look, or was written since. */
  look(signal: AbortSignal): Promise<void>
  /** The tables that differed at the last look. */
  wrong(): string[]
}

/**
 * Compares all rows of a service while they are written. A row that was the same at both places stays so until the source's log tells of
 * it. So a look has to compare only what was written since the last one, however many rows there are.
 */
export async function compareAll(
  { source, target }: { source: Database; target: Database },
  move: Move,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Comparison> {
  const name = await nameOfMove(source, move)
  const tables = await tablesNamed(source, names)
  await followKeys(source, name, move, tables)
  // What was written before the log is followed is there.
  await caughtUp({ source, target }, name, signal)
  const keys = new Map<string, Keys>()
  for (const table of tables) {
    signal.throwIfAborted()
    keys.set(table.name, await differing({ source, target }, move, table))
  }
  return {
    async look(until) {
      await addChanged(source, name, await caughtUp({ source, target }, name, until), keys)
      for (const table of tables) {
        until.throwIfAborted()
        const left = keys.get(table.name)
        if (left?.size) await forgetAlike({ source, target }, table, left)
      }
    },
    wrong: () => [...keys].filter(([, left]) => left.size).map(([table]) => table),
  }
}
