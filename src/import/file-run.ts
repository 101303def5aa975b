import type { Database } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { beginFileRun, endFileRun, type FileRun, updateFileRun } from '../store/sync/file-runs.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import type { ImportCounts } from './pipeline/counts.ts'
import type { ImportResult } from './pipeline/import.ts'
import { ImportError } from './pipeline/import-error.ts'
import type { Rejection } from './pipeline/rejections.ts'

const updateIntervalMs = 2_000

interface FileRunOptions {
  db: Database
  service: Service
  run: FileRun
  isDryRun: boolean
  /** Called if a client or an operator cancels the run. */
  onCancel(): void
}

/** Runs `work` as a run of its import type: stores the counts while it runs, and its result. */
export async function withFileRun<T extends ImportResult>(
  { db, service, run, isDryRun, onCancel }: FileRunOptions,
  counts: ImportCounts,
  work: () => Promise<T>,
): Promise<T> {
  const update = async () => {
    const updated = await updateFileRun(db, service, run, counts)
    if (updated?.isCancelled) onCancel()
  }
  const end = (error: string | undefined, rejections: readonly Rejection[] = []) =>
    endFileRun(db, service, run, counts, { error, rejections: rejections.map(withoutContent) })
  await beginFileRun(db, service, run, isDryRun)
  // If an update fails, the next one or the end of the run makes up for it.
  const timer = setInterval(() => void ignoreError(update(), 'import progress is written again'), updateIntervalMs)
  try {
    const result = await work()
    const { stoppedAfter, rejections } = result
    await end(stoppedAfter === undefined ? undefined : `The import was stopped after line ${stoppedAfter}.`, rejections)
    return result
  } catch (error) {
    // If the database is unavailable, the run has no end and counts as interrupted.
    await ignoreError(
      end(error instanceof ImportError ? error.messageWithoutContent : 'Something went wrong on our side.'),
      'stale loads are reaped later',
    )
    throw error
  } finally {
    clearInterval(timer)
  }
}

/** Content of lines is never stored. */
const withoutContent = ({ column, message, lines, numbers, ranges }: Rejection) => ({
  column,
  reason: message,
  lines,
  numbers,
  ranges,
})
