import { retryOnContention } from '../../database/pg/contention.ts'
import type { Upserted } from '../../store/lists/change-timestamp.ts'
import { type Violation, violationIn } from './violations.ts'

interface Merged<Input> extends Upserted {
  /** What the database refuses, in its order. */
  rejected: { input: Input; violation: Violation }[]
}

/** Writes inputs, so many of them in a transaction. Where the database refuses it, in halves, until those it refuses are alone. */
export async function merge<Input>(
  inputs: readonly Input[],
  write: (some: readonly Input[]) => Promise<Upserted>,
  atOnce = inputs.length,
): Promise<Merged<Input>> {
  const merged: Merged<Input> = { inserted: 0, changed: 0, rejected: [] }
  async function put(some: readonly Input[]): Promise<void> {
    try {
      const { inserted, changed } = await retryOnContention(() => write(some))
      merged.inserted += inserted
      merged.changed += changed
    } catch (error) {
      const violation = violationIn(error)
      const [input] = some
      if (!violation || input === undefined) throw error
      if (some.length === 1) {
        merged.rejected.push({ input, violation })
        return
      }
      const half = some.length >> 1
      await put(some.slice(0, half))
      await put(some.slice(half))
    }
  }
  for (let at = 0; at < inputs.length; at += atOnce) await put(inputs.slice(at, at + atOnce))
  return merged
}
