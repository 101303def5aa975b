import { CallFigures, Figures } from '../domain/stats.ts'
import type { Sync } from '../domain/sync/syncs.ts'
import { get } from '../http/routing/route-definitions.ts'
import { callMinutes, dayOf, ordersToday, owedForVouchers, requestMinutes, salesToday } from '../store/stats/stats.ts'
import { readSyncs } from './syncs.ts'

/** The day in numbers. */
export const figures = [
  get(
    '/figures',
    {
      operationId: 'getFigures',
      tag: 'Figures',
      summary: 'Get dashboard data',
      description:
        'Requests and errors by minute, a second or two late; orders and sales of today; what is owed for vouchers; how old the data is.',
      answer: Figures,
    },
    async context => {
      const { db, service, driver } = context
      const syncs: Sync[] = JSON.parse(await readSyncs(db, context))
      return {
        data: {
          requests: await requestMinutes(db, service),
          day: await dayOf(db, service),
          orders: await ordersToday(db, service),
          sales: await salesToday(db, service),
          vouchers: driver.isOurs ? await owedForVouchers(db, service) : null,
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
    '/figures/calls',
    {
      operationId: 'getCallFigures',
      tag: 'Figures',
      summary: 'Get back-office call statistics',
      description: 'By minute, of requests and of what is pulled alike, a few seconds late.',
      answer: CallFigures,
    },
    async ({ db, service, driver: { breaker = null } }) => ({
      data: Object.assign({ breaker }, await callMinutes(db, service)),
    }),
  ),
]
