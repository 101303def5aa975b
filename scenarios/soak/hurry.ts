import type { Limits } from '../../src/backoffice/apparel21/client/connection.ts'
import { apparel21 } from '../../src/backoffice/apparel21/driver.ts'
import { openUpstream } from '../../src/backoffice/apparel21/queries/upstream.ts'
import { feedsOf } from '../../src/backoffice/apparel21/syncs/syncs.ts'
import type { BackOffices } from '../../src/backoffice/back-offices.ts'
import type { Driver } from '../../src/backoffice/port/driver.ts'
import type { Job } from '../../src/jobs/job.ts'

export const zone = 'Australia/Melbourne'

/** Shorter than in earnest, so that minutes hold what else would take days. */
const limits: Partial<Limits> = {
  deadlineMs: 1_500,
  pageDeadlineMs: 3_000,
  bulkDeadlineMs: 4_000,
  pageRows: 40,
  openMs: 150,
  maxOpenMs: 1_200,
  patienceMs: 300,
}
/** Seconds between two pulls of a feed, until it is read in full, and until a record is visited again. */
const [everySeconds, fullEverySeconds, revisitSeconds] = [2, 25, 20]

/** A driver as each process opens one, in a hurry. */
export function driverTo(url: string, ca: string): Driver {
  const upstream = openUpstream({ url, countryCode: 'AU', timeZone: zone, ca, limits })
  const { client, release } = upstream
  return {
    backOffice: service => apparel21(upstream, service),
    isOurs: false,
    feeds: feedsOf(client, release).map(feed => ({
      ...feed,
      everySeconds,
      ...(feed.fullEverySeconds !== undefined && { fullEverySeconds }),
      ...(feed.revisitSeconds !== undefined && { revisitSeconds }),
    })),
    source: url,
    breaker: undefined,
    look: async () => ({ release: undefined, stores: 0, currency: undefined }),
    close: client.close,
  }
}

export const officesOf = (driver: Driver): BackOffices => ({
  of: driver.backOffice,
  driverOf: () => driver,
  settingsOf: () => ({ driver: 'apparel21' }),
  syncedAt: () => undefined,
  opened: () => [],
  close: driver.close,
})

/** The jobs of back offices, which try again after seconds. */
export const hasty = (table: Readonly<Record<string, Job>>) =>
  Object.fromEntries(Object.entries(table).map(([name, job]) => [name, { ...job, waitsSeconds: [1, 2] }]))
