import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addNotes, nothingTaken, type Taken } from './counts.ts'
import type { Intake, Prepared } from './ingest.ts'
import { merge } from './merge.ts'
import { Reason } from './row-error.ts'
import { foreseen, type Violation } from './violations.ts'

/** Where rows go, and what their source wants to be done with them. */
interface Wishes<R> {
  db: Database
  service: Service
  intake: Intake<R>
  /** For rows with secrets. */
  keys?: Keys | undefined
  /** Everything but the writing. */
  dryRun?: boolean
  /** Inputs of a transaction; all, where it is not given. */
  atOnce?: number
  /** What is refused is tried once more when the rest is in, and what this waits for: what stood in its way may have moved by then. */
  again?: true | Promise<unknown> | undefined
  /** Hears why the input of this place is refused. Where it is `mended`, it is put in all the same, without what is refused. */
  refuse(at: number, violation: Violation, mended: boolean): void
}

/**
 * The one way in: rows of whatever source are prepared, merged into what is there, and refused with reasons. Answers what became of
 * them, and the inputs that they were.
 */
export async function takeIn<R>(rows: readonly R[], wishes: Wishes<R>) {
  const { db, service, intake, keys } = wishes
  return takePrepared(await intake.prepare(db, service, rows, keys), wishes)
}

/** The same of rows that were prepared before their turn came. */
export async function takePrepared<R>(
  { inputs, notes, leftOut = {} }: Prepared,
  { db, service, intake, dryRun = false, atOnce, again, refuse }: Wishes<R>,
): Promise<Taken & { inputs: readonly object[] }> {
  const given = [...inputs]
  const inputsAt = (places: readonly number[]) => places.map(at => given[at])
  const taken = nothingTaken()
  async function put(places: readonly number[], most?: number) {
    const merged = await merge(places, some => intake.write(db, service, inputsAt(some)), most)
    taken.inserted += merged.inserted
    taken.changed += merged.changed
    return merged.refused
  }
  const sound: number[] = []
  for (const [at, input] of inputs.entries()) {
    if (!(input instanceof Reason)) sound.push(at)
    else {
      taken.refused++
      refuse(at, foreseen(input), false)
    }
  }
  for (const { input: at, violation } of dryRun ? [] : await put(sound, atOnce)) {
    await again
    const [still] = again ? await put([at]) : [{ violation }]
    if (!still) continue
    const column = intake.clears?.[still.violation.constraint]
    refuse(at, still.violation, column !== undefined)
    if (column !== undefined) given[at] = { ...given[at], [column]: null }
    if (column === undefined || (await put([at])).length) taken.refused++
  }
  taken.read = Object.values(leftOut).reduce((sum, times) => sum + times, inputs.length)
  addNotes(taken.notes, notes)
  addNotes(taken.notes, leftOut)
  return { ...taken, inputs }
}
