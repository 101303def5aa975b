import { BackOfficeCallStats, Stats } from '../domain/stats.ts'
import type { Sync } from '../domain/sync/syncs.ts'
import { get } from '../http/routing/route-definitions.ts'
import {
  readCallMinutes,
  readCurrentDay,
  readRequestMinutes,
  sumOrdersToday,
  sumSalesToday,
  sumVoucherBalances,
} from '../store/stats/stats.ts'
import { readSyncs } from './syncs.ts'

/** Numbers for charts: requests, orders, sales, vouchers and back-office calls. */
export const stats = [
  get(
    '/stats',
    {
      operationId: 'getStats',
      tag: 'Stats',
      summary: 'Get dashboard data',
      description:
        'Requests and errors per minute, up to two seconds late; orders and sales of the current day; the outstanding voucher balance; the lag of each sync.',
      response: Stats,
    },
    async context => {
      const { db, service, driver } = context
      const syncs: Sync[] = JSON.parse(await readSyncs(db, context))
      return {
        data: {
          requests: await readRequestMinutes(db, service),
          day: await readCurrentDay(db, service),
          orders: await sumOrdersToday(db, service),
          sales: await sumSalesToday(db, service),
          vouchers: driver.isEmbedded ? await sumVoucherBalances(db, service) : null,
          syncs: syncs.map(({ sync, lagSeconds, intervalSeconds, isOverdue }) => ({
            sync,
            lagSeconds,
            intervalSeconds,
            isOverdue,
          })),
        },
      }
    },
  ),

  get(
    '/stats/back-office-calls',
    {
      operationId: 'getBackOfficeCallStats',
      tag: 'Stats',
      summary: 'Get back-office call statistics',
      description: 'Calls of requests and syncs per minute, a few seconds late.',
      response: BackOfficeCallStats,
    },
    async ({ db, service, driver: { breaker = null } }) => ({
      data: Object.assign({ breaker }, await readCallMinutes(db, service)),
    }),
  ),
]
