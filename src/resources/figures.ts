import type { Feed } from '../domain/feeds.ts'
import { Figures } from '../domain/figures.ts'
import type { Api } from '../http/api.ts'
import { dayOf, ordersToday, owedForVouchers, requestMinutes, salesToday } from '../store/running/figures.ts'
import { standing } from './feeds.ts'

/** The day in numbers. */
export function figures(api: Api) {
  api.get(
    '/figures',
    {
      operationId: 'getFigures',
      tag: 'Figures',
      summary: 'The day in numbers, for charts.',
      description:
        'Requests and errors by minute, a second or two late; orders and sales of today; what is owed for vouchers; how old the data is.',
      answer: Figures,
    },
    async context => {
      const { db, service, driver } = context
      const feeds: Feed[] = JSON.parse(await standing(db, context))
      // A driver with nothing to pull has all of it in our own tables, vouchers too.
      const isOurs = driver.feeds.length === 0
      return {
        data: {
          requests: await requestMinutes(db, service),
          day: await dayOf(db, service),
          orders: await ordersToday(db, service),
          sales: await salesToday(db, service),
          vouchers: isOurs ? await owedForVouchers(db, service) : null,
          feeds: feeds.map(({ feed, lagSeconds, everySeconds, isLate }) => ({
            feed,
            lagSeconds,
            everySeconds,
            isLate,
          })),
        },
      }
    },
  )
}
