import { type Db, type Sql, sql } from '../../src/database/db.ts'
import { type Facts, ofOrders } from '../support/ledgers.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import type { Deed, Kind, Shop } from './shoppers.ts'

/** How many there were to judge: a short run may have none of a kind. */
export const among = (count: number) => count || undefined

export const idOf = ({ answer }: Deed) => (answer.data && 'id' in answer.data ? (answer.data.id ?? '') : '')

/** What holds of clients' deeds and the rows of a service, whatever the back office. */
export function factsOf(db: Db, id: number, { deeds, unsettled }: Shop) {
  const made = <K extends Kind>(kind: K) =>
    deeds.filter((deed): deed is Deed<K> => deed.kind === kind && deed.answer.status < 300)

  const once = async (what: string, kinds: Kind[], query: Sql): Promise<Verdict> => {
    const effects = new Map(
      (await db.rows<{ key: string; count: number }>(query)).map(({ key, count }) => [key, count] as const),
    )
    const asked = deeds.filter(deed => kinds.includes(deed.kind))
    const wrong = asked.filter(({ key, answer }) => (effects.get(key) ?? 0) !== (answer.status < 300 ? 1 : 0))
    const known = new Set(asked.map(deed => deed.key))
    const stray = [...effects.keys()].filter(key => !known.has(key))
    return verdict(
      `each ${what} that was acknowledged is there once, and none that was refused`,
      [...wrong.map(deed => deed.key), ...stray],
      among(asked.length),
    )
  }
  const none = async (fact: string, query: Sql): Promise<Verdict> =>
    verdict(
      fact,
      (await db.rows<{ key: string }>(query)).map(row => row.key),
    )

  /** None of the records contradicts any of the facts. */
  const noneOf = (facts: Facts) => Promise.all(Object.entries(facts).map(([fact, query]) => none(fact, query)))

  return {
    made,
    once,
    none,
    noneOf,
    /** What was asked for is there once, and adds up. */
    async writes(seen: ReadonlySet<string>, sales: Sql): Promise<Verdict[]> {
      const customers = made('customer').map(idOf)
      const returns = made('return').map(idOf)
      const there = new Set(
        (await db.rows<{ id: string }>(sql`select id from sales_return where service_id = ${id}`)).map(row => row.id),
      )
      return [
        verdict('every write was settled', unsettled, deeds.length + unsettled.length),
        await once(
          'customer',
          ['customer'],
          sql`select surname as key, count(*)::integer as count from customer where service_id = ${id} and firstname = 'Chaos' group by 1`,
        ),
        await once(
          'order',
          ['order', 'voucherOrder'],
          sql`select reference as key, count(*)::integer as count from order_payment where service_id = ${id} and reference is not null group by 1`,
        ),
        await once('voucher', ['voucher'], sales),
        verdict(
          'each return that was acknowledged is there',
          returns.filter(each => !there.has(each)),
          among(returns.length),
        ),
        verdict(
          'there are no more returns than were acknowledged',
          there.size === returns.length ? [] : [`${there.size} instead of ${returns.length}`],
        ),
        verdict(
          'who follows the customers by asOf has seen each of them',
          customers.filter(each => !seen.has(each)),
          among(customers.length),
        ),
        ...(await noneOf(ofOrders(id))),
      ]
    },
  }
}
