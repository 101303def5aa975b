import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../database/db.ts'
import type { Move } from './moves.ts'
import { abortJobs, countRunningJobs, listRunningImports, startDraining } from './pause-writes.ts'

/** Milliseconds within which jobs can end, and then notice that they were aborted. */
const drainMs = 8_000
const abortMs = 7_000
const pollIntervalMs = 200
const importPollIntervalMs = 2_000

interface DrainOptions {
  /** Called with the reason for a wait. */
  onWaiting: (message: string) => void
  /** Called at each poll while an import is running. */
  whileImporting?: () => Promise<void>
  signal: AbortSignal
}

/**
 * Waits until no import and no job of the service is running, and lets no job start. Aborts jobs that don't end in time. Throws if the service
 * is moving already.
 */
export async function drainService(
  source: Database,
  service: Pick<Move, 'serviceId' | 'name'>,
  { onWaiting, whileImporting, signal }: DrainOptions,
) {
  for (
    let files = await listRunningImports(source, service);
    files.length;
    files = await listRunningImports(source, service)
  ) {
    onWaiting(`Waiting for running imports and syncs: ${files.join(', ')}.`)
    await whileImporting?.()
    await delay(importPollIntervalMs, undefined, { signal })
  }
  if (!(await startDraining(source, service)))
    throw new Error(`${service.name} is already moving, being restored or being removed.`)
  const deadline = performance.now() + drainMs
  while ((await countRunningJobs(source, service)) > 0 && performance.now() < deadline)
    await delay(pollIntervalMs, undefined, { signal })
  if (await abortJobs(source, service)) await delay(abortMs, undefined, { signal })
}
