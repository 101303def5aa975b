import type { Limits } from '../../src/backoffice/apparel21/client/connection.ts'
import { createApparel21 } from '../../src/backoffice/apparel21/driver.ts'
import { createUpstream } from '../../src/backoffice/apparel21/queries/upstream.ts'
import { fetchStockOfSkus } from '../../src/backoffice/apparel21/syncs/stock.ts'
import { buildSyncs } from '../../src/backoffice/apparel21/syncs/syncs.ts'
import type { BackOffices } from '../../src/backoffice/back-offices.ts'
import type { Driver } from '../../src/backoffice/port/driver.ts'
import type { Job } from '../../src/jobs/job.ts'

export const timeZone = 'Australia/Melbourne'

/** Shorter limits than in production, so that a run of minutes covers what otherwise takes days. */
const limits: Partial<Limits> = {
  deadlineMs: 1_500,
  pageDeadlineMs: 3_000,
  bulkDeadlineMs: 4_000,
  pageRows: 40,
  openMs: 150,
  maxOpenMs: 1_200,
  maxRetryWaitMs: 300,
}
/** Seconds between two syncs, between two full syncs, and until a record's details are fetched again. */
const [intervalSeconds, fullIntervalSeconds, refreshIntervalSeconds] = [2, 25, 20]

/** Opens the Apparel21 driver with short timeouts and intervals. */
export function openSpedUpDriver(url: string, ca: string): Driver {
  const upstream = createUpstream({ url, countryCode: 'AU', timeZone, ca, limits })
  const { client, release } = upstream
  return {
    backOffice: service => createApparel21(upstream, service),
    isEmbedded: false,
    syncs: buildSyncs(client, release).map(sync => ({
      ...sync,
      intervalSeconds,
      ...(sync.fullIntervalSeconds !== undefined && { fullIntervalSeconds }),
      ...(sync.refreshIntervalSeconds !== undefined && { refreshIntervalSeconds }),
    })),
    source: url,
    timeZone,
    fetchStock: (skuIds, signal) => fetchStockOfSkus(client, skuIds, signal),
    breaker: undefined,
    probe: async () => ({ release: undefined, stores: 0, currency: undefined }),
    close: client.close,
  }
}

/** Uses one driver for every service. */
export const toBackOffices = (driver: Driver): BackOffices => ({
  get: driver.backOffice,
  getDriver: () => driver,
  getSettings: () => ({ driver: 'apparel21' }),
  getSyncTimes: () => undefined,
  listOpen: () => [],
  close: driver.close,
})

/** Shortens the retry delays of jobs to seconds. */
export const withShortRetries = (table: Readonly<Record<string, Job>>) =>
  Object.fromEntries(Object.entries(table).map(([name, job]) => [name, { ...job, retryDelaysSeconds: [1, 2] }]))
