import type { BackOffices } from '../backoffice/back-offices.ts'
import { runSyncIfReady } from '../backoffice/run-sync.ts'
import { DatabaseUnavailable } from '../database/errors.ts'
import { isPlatformSync } from '../domain/ecommerce/connection-settings.ts'
import { PlatformFailure } from '../domain/ecommerce/platform-failure.ts'
import { runPlatformSync } from '../ecommerce/run-platform-sync.ts'
import { ApiError } from '../errors/api-error.ts'
import { raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'
import { failingAlert, stalledAlert } from '../store/sync/schedule.ts'
import { forService, type Job, type ServiceJobRun } from './job.ts'

const [minute, hour] = [60, 3_600]

/** Consecutive failures before an alert is recorded. */
const failuresToAlert = 5
/** Seconds until a retry if a prerequisite is missing or another run is in progress. */
const waitSeconds = 3
const busySeconds = 20
/** The share of an interval by which the next run may be earlier, so that the services don't all read at the same time. */
const scheduleJitter = 0.1

/** Runs one sync of one service, and reschedules it after the sync's interval. */
export const runSync = (offices: BackOffices): Job => ({
  run: forService(work => run(offices, work)),
  concurrency: 4,
  concurrencyPerService: 2,
  jitter: 0.2,
  retryDelaysSeconds: [15, minute, 5 * minute, 15 * minute, 30 * minute, hour],
})

async function run(offices: BackOffices, work: ServiceJobRun): Promise<void> {
  const { db, log, service, subject, attempt, signal, reschedule } = work
  const fields = { service: service.name, sync: subject }
  const alertFailing = async (detail: string) => {
    await raiseAlert(db, service.id, { kind: failingAlert, subject, detail })
    log.error({ ...fields, alert: failingAlert, attempt }, 'sync keeps failing')
  }
  const outcome = await runAny(offices, work).catch(async error => {
    if (!signal.aborted && attempt >= failuresToAlert && !(error instanceof DatabaseUnavailable))
      await alertFailing(`${describeFailure(error)} (${attempt} times)`)
    throw error
  })
  // Neither the back office nor the e-commerce platform has this sync any more.
  if (!outcome) return
  const { sync, finished } = outcome
  if ('waitsFor' in finished) return reschedule(waitSeconds)
  if ('busy' in finished) return reschedule(busySeconds)
  const { notes, isIdle, ...counts } = finished.result
  log.info({ ...fields, ...counts, ...(Object.keys(notes).length && { notes }) }, 'sync completed')
  // An idle run read nothing, so the data is as old as before.
  if (!isIdle) await resolveAlert(db, service.id, { kind: stalledAlert, subject })
  const { fullRetrySeconds, fullFailures = 0 } = counts
  if (fullFailures === 0) await resolveAlert(db, service.id, { kind: failingAlert, subject })
  // Once per failure: only the run after a failure has an attempt above 1.
  else if (fullFailures >= failuresToAlert && attempt > 1)
    await alertFailing(`The full sync failed ${fullFailures} times.`)
  const seconds = Math.min(
    sync.intervalSeconds * (1 - scheduleJitter * Math.random()),
    fullRetrySeconds ?? Number.POSITIVE_INFINITY,
  )
  reschedule(Math.max(1, Math.ceil(seconds)))
}

const describeFailure = (error: unknown) =>
  error instanceof ApiError ? error.code : error instanceof PlatformFailure ? error.message : 'internal_error'

/** Runs a sync of the back office or of the e-commerce platform. Returns undefined if neither has it. */
async function runAny(offices: BackOffices, { db, keys, log, service, subject, signal }: ServiceJobRun) {
  if (isPlatformSync(subject)) {
    const synced = await runPlatformSync(db, keys, service, subject, log, { signal })
    if (!synced) return
    return { sync: synced.sync, finished: synced.result ? { result: synced.result } : { busy: true as const } }
  }
  const driver = offices.getDriver(service)
  const sync = driver.syncs.find(({ name }) => name === subject)
  return sync && { sync, finished: await runSyncIfReady(db, service, driver, sync, { signal }) }
}
