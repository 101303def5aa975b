import type { Database } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { beginFileRun, endFileRun, type FileRun, noteFileRun } from '../store/sync/file-runs.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import type { Taken } from './pipeline/counts.ts'
import type { Left } from './pipeline/import.ts'
import { ImportError } from './pipeline/import-error.ts'
import type { Refusal } from './pipeline/rejections.ts'

const everyMs = 2_000

/** Reads a file as a run of its feed: what has become of its lines is noted while it is read, and how it ended. */
export async function asRun<T extends Left>(
  { db, service, run, isTrial }: { db: Database; service: Service; run: FileRun; isTrial: boolean },
  taken: Taken,
  work: () => Promise<T>,
): Promise<T> {
  const note = () => noteFileRun(db, service, run, taken)
  const end = async (fault: string | undefined, refusals: readonly Refusal[] = []) => {
    await note()
    await endFileRun(db, service, run, { fault, refused: refusals.map(told) })
  }
  await beginFileRun(db, service, run, isTrial)
  // One that fails is made up for by the next, or by what ends the run.
  const timer = setInterval(() => void ignoreError(note(), 'import progress is written again'), everyMs)
  try {
    const left = await work()
    const { stoppedAfter, refusals } = left
    await end(stoppedAfter === undefined ? undefined : `It was stopped behind line ${stoppedAfter}.`, refusals)
    return left
  } catch (error) {
    // Where the database is away the run has no end either, and counts as lost.
    await ignoreError(
      end(error instanceof ImportError ? error.kept : 'Something went wrong on our side.'),
      'stale loads are reaped later',
    )
    throw error
  } finally {
    clearInterval(timer)
  }
}

/** What stands in a line is not kept. */
const told = ({ column, kept, lines, numbers }: Refusal) => ({ column, reason: kept, lines, numbers })
