import type { BackOffices } from '../backoffice/back-offices.ts'
import { raiseAlert } from '../store/alerts/alerts.ts'
import { hastenFeeds, newlyStalled, planJobs, stalledAlert } from '../store/sync/schedule.ts'
import { syncJob } from '../store/sync/status.ts'
import { listServices } from '../store/tenancy/services.ts'
import type { Job, JobRun } from './job.ts'

/**
 * Sees to it that every feed of every service has its job, and that somebody is told of one that has not been pulled for too long. A job that
 * is there already stays, and so does an alert.
 */
export const planSyncs = (offices: BackOffices): Job => ({
  run: work => run(offices, work),
  intervalSeconds: 60,
  concurrency: 1,
  retryDelaysSeconds: [10, 60],
})

async function run(offices: BackOffices, { db, log }: JobRun): Promise<void> {
  const services = await listServices(db)
  const planned = services.flatMap(service =>
    offices
      .driverOf(service)
      .feeds.map(({ name, everySeconds }) => ({ serviceId: service.id, feed: name, everySeconds })),
  )
  await planJobs(
    db,
    syncJob,
    planned.map(({ serviceId, feed }) => ({ serviceId, subject: feed })),
  )
  const exporting = services.filter(service => offices.settingsOf(service).exportFolder !== undefined)
  await planJobs(
    db,
    'import-exports',
    exporting.map(({ id }) => ({ serviceId: id, subject: '' })),
  )
  const hastened = await hastenFeeds(db, syncJob, planned)
  // What was given a shorter schedule just now is late by no fault.
  const isHastened = (one: { serviceId: number; feed: string }) =>
    hastened.some(({ serviceId, feed }) => serviceId === one.serviceId && feed === one.feed)
  const stalled = await newlyStalled(
    db,
    planned.filter(one => !isHastened(one)),
  )
  for (const { serviceId, feed, everySeconds, lagSeconds } of stalled) {
    const detail = `Not pulled for ${lagSeconds} s; it should be every ${everySeconds} s.`
    await raiseAlert(db, serviceId, { kind: stalledAlert, subject: feed, detail })
    const service = services.find(({ id }) => id === serviceId)?.name
    log.error({ alert: stalledAlert, service, feed, lagSeconds }, 'A feed has not been pulled for too long.')
  }
}
