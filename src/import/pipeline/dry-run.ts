import type { Database } from '../../database/db.ts'
import { rehearse } from '../../database/rehearse.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { WriteContext } from '../../store/lists/outdated.ts'
import { type Notes, note } from './counts.ts'
import type { Ingestion, Row } from './ingest.ts'
import { ingestPrepared } from './ingest-rows.ts'
import { RowError } from './row-error.ts'

/** Limits the memory of a dry run: an input takes about 1 KB. */
const maxInputs = 200_000

const notCompared = `were not compared with lines after the first ${maxInputs.toLocaleString('en')}: duplicates among them are found by the import`

/**
 * Writes the batches of a dry run. Each batch is written as by an import, in a transaction that is rolled back, so that it locks rows
 * only for a moment. Earlier inputs that share a key or a unique value with the batch are written before it: the database then reaches the
 * same decisions as in an import.
 */
export function createDryRun(db: Database, service: Service, ingestion: Ingestion<Row>, context: WriteContext) {
  const { claims, findOwners } = ingestion
  const inputs: object[] = []
  const placesByClaim = new Map<string, number[]>()
  let batches = 0
  const batchNumbers: number[] = []

  /** Returns earlier inputs that share a claim with the batch or with each other, by their batches. */
  async function findRelated(batch: readonly object[]) {
    if (!claims || !findOwners || !inputs.length) return []
    const pending = [...batch.flatMap(claims), ...(await findOwners(db, service, batch))]
    const seen = new Set(pending)
    const related = new Set<number>()
    for (const claim of pending)
      for (const at of placesByClaim.get(claim) ?? []) {
        if (related.has(at)) continue
        related.add(at)
        for (const next of claims(inputs[at])) {
          if (seen.has(next)) continue
          seen.add(next)
          pending.push(next)
        }
      }
    const places = [...related].sort((a, b) => a - b)
    return [...Map.groupBy(places, at => batchNumbers[at]).values()].map(group => group.map(at => inputs[at] ?? {}))
  }

  return {
    /** Calls `write` with a database whose changes are rolled back. */
    async write<T>(batch: readonly object[], write: (db: Database) => Promise<T>): Promise<T> {
      const related = await findRelated(batch.filter(input => !(input instanceof RowError)))
      return rehearse(db, async rehearsal => {
        for (const earlier of related)
          await ingestPrepared(
            { inputs: earlier },
            { db: rehearsal, service, ingestion, context, retryRejected: true, reject() {} },
          )
        return write(rehearsal)
      })
    },
    /** Remembers the accepted inputs of a batch for later ones. */
    remember(accepted: readonly object[], notes: Notes) {
      if (!claims || !findOwners) return
      batches++
      for (const input of new Set(accepted)) {
        if (inputs.length >= maxInputs) {
          note(notes, notCompared)
          continue
        }
        const at = inputs.push(input) - 1
        batchNumbers[at] = batches
        for (const claim of claims(input)) {
          const places = placesByClaim.get(claim)
          if (places) places.push(at)
          else placesByClaim.set(claim, [at])
        }
      }
    },
  }
}
