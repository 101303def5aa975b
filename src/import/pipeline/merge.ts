import { retryOnContention } from '../../database/pg/contention.ts'
import type { Upserted } from '../../store/lists/change-timestamp.ts'
import { toViolation, type Violation } from './violations.ts'

interface Merged<Input> extends Required<Upserted> {
  /** The inputs that the database rejects, in their order. */
  rejected: { input: Input; violation: Violation }[]
}

/** Writes inputs in transactions of at most `maxInputs`. If the database rejects one, halves it until the invalid inputs are isolated. */
export async function merge<Input>(
  inputs: readonly Input[],
  write: (some: readonly Input[]) => Promise<Upserted>,
  maxInputs = inputs.length,
): Promise<Merged<Input>> {
  const merged: Merged<Input> = { inserted: 0, changed: 0, outdated: 0, rejected: [] }
  async function writeOrHalve(some: readonly Input[]): Promise<void> {
    try {
      const { inserted, changed, outdated = 0 } = await retryOnContention(() => write(some))
      merged.inserted += inserted
      merged.changed += changed
      merged.outdated += outdated
    } catch (error) {
      const violation = toViolation(error)
      const [input] = some
      if (!violation || input === undefined) throw error
      if (some.length === 1) {
        merged.rejected.push({ input, violation })
        return
      }
      const half = some.length >> 1
      await writeOrHalve(some.slice(0, half))
      await writeOrHalve(some.slice(half))
    }
  }
  for (let at = 0; at < inputs.length; at += maxInputs) await writeOrHalve(inputs.slice(at, at + maxInputs))
  return merged
}
