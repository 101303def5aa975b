import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { addNotes, type ImportCounts, noCounts } from './counts.ts'
import type { Ingestion, Prepared } from './ingest.ts'
import { merge } from './merge.ts'
import { RowError } from './row-error.ts'
import { foreseen, type Violation } from './violations.ts'

/** Where rows go, and what their source wants to be done with them. */
interface IngestOptions<R> {
  db: Database
  service: Service
  ingestion: Ingestion<R>
  /** For rows with secrets. */
  keys?: Keys | undefined
  /** Everything but the writing. */
  dryRun?: boolean
  /** Inputs of a transaction; all, where it is not given. */
  rowsPerTransaction?: number
  /** What is rejected is tried once more when the rest is in, and what this waits for: what stood in its way may have moved by then. */
  retry?: true | Promise<unknown> | undefined
  /** Hears why the input of this place is rejected. Where it is `mended`, it is put in all the same, without what is rejected. */
  reject(at: number, violation: Violation, mended: boolean): void
}

/**
 * The one way in: rows of whatever source are prepared, merged into what is there, and rejected with reasons. Answers what became of
 * them, and the inputs that they were.
 */
export async function ingest<R>(rows: readonly R[], wishes: IngestOptions<R>) {
  const { db, service, ingestion, keys } = wishes
  return ingestPrepared(await ingestion.prepare(db, service, rows, keys), wishes)
}

/** The same of rows that were prepared before their turn came. */
export async function ingestPrepared<R>(
  { inputs, notes, skipped = {} }: Prepared,
  { db, service, ingestion, dryRun = false, rowsPerTransaction, retry, reject }: IngestOptions<R>,
): Promise<ImportCounts & { inputs: readonly object[] }> {
  const given = [...inputs]
  const inputsAt = (places: readonly number[]) => places.map(at => given[at])
  const taken = noCounts()
  async function put(places: readonly number[], most?: number) {
    const merged = await merge(places, some => ingestion.write(db, service, inputsAt(some)), most)
    taken.inserted += merged.inserted
    taken.changed += merged.changed
    return merged.rejected
  }
  const sound: number[] = []
  for (const [at, input] of inputs.entries()) {
    if (!(input instanceof RowError)) sound.push(at)
    else {
      taken.rejected++
      reject(at, foreseen(input), false)
    }
  }
  for (const { input: at, violation } of dryRun ? [] : await put(sound, rowsPerTransaction)) {
    await retry
    const [still] = retry ? await put([at]) : [{ violation }]
    if (!still) continue
    const column = ingestion.clears?.[still.violation.constraint]
    reject(at, still.violation, column !== undefined)
    if (column !== undefined) given[at] = { ...given[at], [column]: null }
    if (column === undefined || (await put([at])).length) taken.rejected++
  }
  taken.skipped = Object.values(skipped).reduce((sum, times) => sum + times, 0)
  taken.read = inputs.length + taken.skipped
  addNotes(taken.notes, notes)
  addNotes(taken.notes, skipped)
  return { ...taken, inputs }
}
