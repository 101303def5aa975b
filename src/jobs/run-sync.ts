import type { BackOffices } from '../backoffice/back-offices.ts'
import { runSyncIfReady } from '../backoffice/run-sync.ts'
import { DatabaseUnavailable } from '../database/errors.ts'
import { ApiError } from '../errors/api-error.ts'
import { raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'
import { failingAlert, stalledAlert } from '../store/sync/schedule.ts'
import { type Job, ofService, type ServiceJobRun } from './job.ts'

const [minute, hour] = [60, 3_600]

/** Consecutive failures before an alert is recorded. */
const failuresToTell = 5
/** Seconds until a retry if a prerequisite is missing or another run is in progress. */
const waitSeconds = 3
const busySeconds = 20
/** The share of a schedule by which the next run may be earlier, so that services do not all ask at one time. */
const scatter = 0.1

/** Pulls one sync of one service; when the next time is, the sync says. */
export const runSync = (offices: BackOffices): Job => ({
  run: ofService(work => run(offices, work)),
  concurrency: 4,
  concurrencyPerService: 2,
  jitter: 0.2,
  retryDelaysSeconds: [15, minute, 5 * minute, 15 * minute, 30 * minute, hour],
})

async function run(offices: BackOffices, work: ServiceJobRun): Promise<void> {
  const { db, log, service, subject, attempt, signal, reschedule } = work
  const driver = offices.getDriver(service)
  const sync = driver.syncs.find(({ name }) => name === subject)
  // It is not pulled any more.
  if (!sync) return
  const about = { service: service.name, sync: subject }
  const tellFailing = async (detail: string) => {
    await raiseAlert(db, service.id, { kind: failingAlert, subject, detail })
    log.error({ ...about, alert: failingAlert, attempt }, 'sync keeps failing')
  }
  const pulled = await runSyncIfReady(db, service, driver, sync, { signal }).catch(async error => {
    if (!signal.aborted && attempt >= failuresToTell && !(error instanceof DatabaseUnavailable))
      await tellFailing(`${error instanceof ApiError ? error.code : 'internal_error'} (${attempt} times)`)
    throw error
  })
  if ('waitsFor' in pulled) return reschedule(waitSeconds)
  if ('busy' in pulled) return reschedule(busySeconds)
  const { notes, isIdle, ...counts } = pulled.result
  log.info({ ...about, ...counts, ...(Object.keys(notes).length && { notes }) }, 'A sync was pulled.')
  // One that has asked for nothing is as old as it was.
  if (!isIdle) await resolveAlert(db, service.id, { kind: stalledAlert, subject })
  const { fullRetrySeconds, fullFailures = 0 } = counts
  if (fullFailures === 0) await resolveAlert(db, service.id, { kind: failingAlert, subject })
  // Once for each failure: only the run that follows one is not the first attempt.
  else if (fullFailures >= failuresToTell && attempt > 1)
    await tellFailing(`everything cannot be read (${fullFailures} times)`)
  const seconds = Math.min(
    sync.intervalSeconds * (1 - scatter * Math.random()),
    fullRetrySeconds ?? Number.POSITIVE_INFINITY,
  )
  reschedule(Math.max(1, Math.ceil(seconds)))
}
