import { type Db, type Sql, sql } from '../src/db.ts'
import { type Verdict, verdict } from '../trials/verdict.ts'
import type { Deed, Kind, Shop } from './shoppers.ts'

/** How many there were to judge: a short run may have none of a kind. */
export const among = (count: number) => count || undefined

export const idOf = ({ answer }: Deed) => (answer.data && 'id' in answer.data ? (answer.data.id ?? '') : '')

/** What holds of clients' deeds and the rows of a service, whatever the back office. */
export function factsOf(db: Db, id: number, { deeds }: Shop) {
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

  return {
    made,
    once,
    none,
    /** What was asked for is there once, and adds up. */
    async writes(seen: ReadonlySet<string>, sales: Sql): Promise<Verdict[]> {
      const customers = made('customer').map(idOf)
      const returns = made('return').map(idOf)
      const there = new Set(
        (await db.rows<{ id: string }>(sql`select id from sales_return where service_id = ${id}`)).map(row => row.id),
      )
      return [
        verdict(
          'every write was settled',
          deeds.filter(({ answer }) => !answer.status || answer.status >= 500).map(({ key }) => key),
          deeds.length,
        ),
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
        await none(
          'no order line is returned beyond what was sold, and its counter is the sum of its returns',
          sql`select l.order_id || '/' || l.sequence as key from order_line l where l.service_id = ${id}
             and (l.returned > l.quantity or l.returned <> (select coalesce(sum(r.quantity), 0) from return_line r join sales_return s on s.service_id = r.service_id and s.id = r.return_id and s.status <> 'cancelled'
                    where r.service_id = l.service_id and r.order_id = l.order_id and r.order_sequence = l.sequence))`,
        ),
        await none(
          'payments are what each order cost',
          sql`select o.id as key from sales_order o where o.service_id = ${id} and o.total <> (select sum(amount) from order_payment p where p.service_id = o.service_id and p.order_id = o.id)`,
        ),
      ]
    },
  }
}
