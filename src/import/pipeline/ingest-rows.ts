import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import { retryOnContention } from '../../database/pg/contention.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Upserted } from '../../store/lists/change-timestamp.ts'
import type { WriteContext } from '../../store/lists/outdated.ts'
import { addNotes, createCounts, type ImportCounts } from './counts.ts'
import type { Ingestion, Prepared } from './ingest.ts'
import { RowError } from './row-error.ts'
import { toKnownViolation, toViolation, type Violation } from './violations.ts'

interface IngestOptions<R> {
  db: Database
  service: Service
  ingestion: Ingestion<R>
  context: WriteContext
  /** Required for rows with secrets. */
  keys?: Keys | undefined
  /** Inputs per transaction. Absent: all in one transaction. */
  rowsPerTransaction?: number
  /** True to try rejected inputs once more after the others, because the conflicting record may have changed by then. */
  retryRejected?: boolean
  /** The retry waits for this promise too. */
  retryAfter?: Promise<unknown>
  /** Receives the violation of the input at this place. If `isCorrected`, the input is stored without the violating value. */
  reject(at: number, violation: Violation, isCorrected: boolean): void
}

/** Prepares rows of any source, and merges them into the store. All rows of imports and syncs pass here. Returns the counts and inputs. */
export async function ingest<R>(rows: readonly R[], options: IngestOptions<R>) {
  const { db, service, ingestion, keys } = options
  return ingestPrepared(await ingestion.prepare(db, service, rows, keys), options)
}

/** Like `ingest`, for rows that are already prepared. */
export async function ingestPrepared<R>(
  { inputs, notes, skipped = {} }: Prepared,
  { db, service, ingestion, context, rowsPerTransaction, retryRejected, retryAfter, reject }: IngestOptions<R>,
): Promise<ImportCounts & { inputs: readonly object[] }> {
  const corrected = [...inputs]
  const selectInputs = (places: readonly number[]) => places.map(at => corrected[at])
  const counts = createCounts()
  async function write(places: readonly number[], maxRows?: number, writeContext = context) {
    const merged = await merge(places, part => ingestion.write(db, service, selectInputs(part), writeContext), maxRows)
    counts.inserted += merged.inserted
    counts.changed += merged.changed
    counts.outdated += merged.outdated
    return merged.rejected
  }
  /** Writes rejected inputs that exchange unique values together, because each of them needs a value that another one has. */
  async function writeExchanges(rejected: Awaited<ReturnType<typeof write>>) {
    const { exchanges } = ingestion
    const places = rejected.flatMap(({ input, violation }) =>
      violation.constraint === exchanges?.constraint ? [input] : [],
    )
    if (!exchanges || places.length < 2) return rejected
    const written = new Set<number>()
    for (const group of await exchanges.findGroups(db, service, selectInputs(places))) {
      const groupPlaces = group.flatMap(i => places[i] ?? [])
      const failed = await write(groupPlaces, undefined, { ...context, releasesUniqueValues: true })
      if (!failed.length) for (const at of groupPlaces) written.add(at)
    }
    return rejected.filter(({ input }) => !written.has(input))
  }
  const valid: number[] = []
  for (const [at, input] of inputs.entries()) {
    if (!(input instanceof RowError)) valid.push(at)
    else {
      counts.rejected++
      reject(at, toKnownViolation(input), false)
    }
  }
  const rejectedFirst = await write(valid, rowsPerTransaction)
  if (rejectedFirst.length) await retryAfter
  for (const { input: at, violation } of retryRejected ? await writeExchanges(rejectedFirst) : rejectedFirst) {
    const [rejection] = retryRejected ? await write([at]) : [{ violation }]
    if (!rejection) continue
    const column = ingestion.clears?.[rejection.violation.constraint]
    reject(at, rejection.violation, column !== undefined)
    if (column !== undefined) corrected[at] = { ...corrected[at], [column]: null }
    if (column === undefined || (await write([at])).length) counts.rejected++
  }
  counts.skipped = Object.values(skipped).reduce((sum, times) => sum + times, 0)
  counts.read = inputs.length + counts.skipped
  addNotes(counts.notes, notes)
  addNotes(counts.notes, skipped)
  return { ...counts, inputs }
}

interface Merged<Input> extends Required<Upserted> {
  /** The inputs that the database rejects, in their order. */
  rejected: { input: Input; violation: Violation }[]
}

/** Writes inputs in transactions of at most `maxInputs`. If the database rejects one, halves it until the invalid inputs are isolated. */
async function merge<Input>(
  inputs: readonly Input[],
  write: (part: readonly Input[]) => Promise<Upserted>,
  maxInputs = inputs.length,
): Promise<Merged<Input>> {
  const merged: Merged<Input> = { inserted: 0, changed: 0, outdated: 0, rejected: [] }
  async function writeOrHalve(part: readonly Input[]): Promise<void> {
    try {
      const { inserted, changed, outdated = 0 } = await retryOnContention(() => write(part))
      merged.inserted += inserted
      merged.changed += changed
      merged.outdated += outdated
    } catch (error) {
      const violation = toViolation(error)
      const [input] = part
      if (!violation || input === undefined) throw error
      if (part.length === 1) {
        merged.rejected.push({ input, violation })
        return
      }
      const half = part.length >> 1
      await writeOrHalve(part.slice(0, half))
      await writeOrHalve(part.slice(half))
    }
  }
  for (let at = 0; at < inputs.length; at += maxInputs) await writeOrHalve(inputs.slice(at, at + maxInputs))
  return merged
}
