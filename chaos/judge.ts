import { setTimeout as delay } from 'node:timers/promises'
import { type Db, type Sql, sql } from '../src/db.ts'
import { jobs } from '../src/jobs/jobs.ts'
import { retryMails, sendMailJob } from '../src/store/running/mails.ts'
import { type Verdict, verdict } from '../trials/verdict.ts'
import type { Deed, Kind, Shop } from './shoppers.ts'
import type { World } from './world.ts'

/** Holds what clients were told against what the database and the mail server have. */
export async function judge(world: World, shop: Shop, seen: ReadonlySet<string>): Promise<Verdict[]> {
  const { db, service, mails, worker, log } = world
  const id = service.id
  const made = <K extends Kind>(kind: K) =>
    shop.deeds.filter((deed): deed is Deed<K> => deed.kind === kind && deed.answer.status === 201)
  const mailed = await untilMailed(world)

  const counted = async (query: Sql) =>
    new Map((await db.rows<{ key: string; count: number }>(query)).map(row => [row.key, row.count]))
  const once = async (what: string, kinds: Kind[], query: Sql): Promise<Verdict> => {
    const effects = await counted(query)
    const deeds = shop.deeds.filter(deed => kinds.includes(deed.kind))
    const wrong = deeds.filter(({ key, answer }) => (effects.get(key) ?? 0) !== (answer.status === 201 ? 1 : 0))
    const known = new Set(deeds.map(deed => deed.key))
    const stray = [...effects.keys()].filter(key => !known.has(key))
    return verdict(
      `each ${what} that was acknowledged is there once, and none that was refused`,
      [...wrong.map(deed => deed.key), ...stray],
      among(deeds.length),
    )
  }
  const none = async (fact: string, query: Sql): Promise<Verdict> => {
    const wrong = await db.rows<{ key: string }>(query)
    return verdict(
      fact,
      wrong.map(row => row.key),
    )
  }

  const customers = made('customer').map(idOf)
  const vouchers = made('voucher').map(({ key, answer: { data } }) => ({ key, number: data?.number, pin: data?.pin }))
  const returns = made('return').map(idOf)
  const mailsOf = Map.groupBy(mails, mail => mail.subject)
  const extra = mails.length - mailsOf.size
  const mailsAtOnce = jobs[sendMailJob]?.atOnce ?? 0

  return [
    verdict('every write was settled', [], shop.deeds.length),
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
    await once(
      'voucher',
      ['voucher'],
      sql`select order_number as key, count(*)::integer as count from voucher_sale where service_id = ${id} group by 1`,
    ),
    verdict(
      'each return that was acknowledged is there',
      await missing(db, sql`sales_return`, id, returns),
      among(returns.length),
    ),
    verdict(
      'there are no more returns than were acknowledged',
      (await countOf(db, sql`sales_return`, id)) === returns.length ? [] : ['more'],
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
      "each voucher's balance is the sum of its ledger, and not below zero",
      sql`select v.number as key from voucher v where v.service_id = ${id} and (v.balance < 0 or v.balance <> (select sum(amount) from voucher_entry e where e.service_id = v.service_id and e.number = v.number))`,
    ),
    await none(
      'what was drawn of each voucher is what orders were paid with',
      sql`select v.number as key from voucher v join voucher_sale using (service_id, number) where v.service_id = ${id}
             and (select coalesce(-sum(amount), 0) from voucher_entry e where e.service_id = v.service_id and e.number = v.number and kind = 'redeem')
              <> (select coalesce(sum(amount), 0) from order_payment p where p.service_id = v.service_id and p.voucher_number = v.number)`,
    ),
    await none(
      'payments are what each order cost',
      sql`select o.id as key from sales_order o where o.service_id = ${id} and o.total <> (select sum(amount) from order_payment p where p.service_id = o.service_id and p.order_id = o.id)`,
    ),
    await none(
      'no reward lot gave more than it had',
      sql`select account_id || '/' || lot_id as key from reward_lot where service_id = ${id} and redeemed + taken + pending > total`,
    ),
    await none(
      'each acknowledged order has its retail transaction',
      sql`select o.order_number as key from sales_order o where o.service_id = ${id}
             and not exists (select from retail_transaction t where t.service_id = o.service_id and t.customer_id = o.customer_id and t.record like '%"orderNumber":"' || o.order_number || '"%')`,
    ),
    verdict(
      'each acknowledged voucher was mailed, with its number and PIN',
      vouchers
        .filter(
          ({ key, number, pin }) =>
            !number || !pin || !mailsOf.get(key)?.every(mail => mail.text.includes(number) && mail.text.includes(pin)),
        )
        .map(voucher => voucher.key),
      among(vouchers.length),
    ),
    verdict(
      'no mail without a voucher',
      [...mailsOf.keys()].filter(key => !vouchers.some(voucher => voucher.key === key)),
    ),
    verdict(
      'all mails of a voucher carry one Message-ID',
      [...mailsOf].filter(([, of]) => new Set(of.map(mail => mail.messageId)).size !== 1).map(([key]) => key),
    ),
    verdict(
      'a worker that was killed mailed no more than what it was at a second time',
      extra <= worker.kills * mailsAtOnce ? [] : [`${extra} more`],
      among(worker.kills),
    ),
    verdict('the mails went out within 60 s of the last kill', mailed ? [] : ['some are still waiting']),
    verdict('nothing unexpected was logged', log.filter(line => /internal_error|unhandled/i.test(line)).slice(0, 3)),
  ]
}

/** How many there were to judge: a short run may have none of a kind. */
const among = (count: number) => count || undefined

const idOf = ({ answer }: Deed<'customer' | 'return'>) => answer.data?.id ?? ''

async function missing(db: Db, table: Sql, service: number, ids: readonly string[]) {
  const there = new Set(
    (await db.rows<{ id: string }>(sql`select id from ${table} where service_id = ${service}`)).map(row => row.id),
  )
  return ids.filter(each => !there.has(each))
}

const countOf = async (db: Db, table: Sql, service: number) =>
  (await db.row<{ count: number }>(sql`select count(*)::integer as count from ${table} where service_id = ${service}`))
    ?.count

/** Waits until no mail waits any longer; not for ever. One that the server refused is not the kills' fault: it is tried again, as an operator would. */
async function untilMailed({ db, service }: World) {
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(200)) {
    const waiting = await db
      .rows<{ id: string; refused: boolean }>(
        sql`select mail_id as id, last_fault is not null as refused from mail where service_id = ${service.id} and status <> 'sent'`,
      )
      .catch(() => undefined)
    if (waiting?.length === 0) return true
    const refused = waiting?.filter(each => each.refused) ?? []
    for (const { id } of refused) await retryMails(db, service, id).catch(() => {})
  }
  return false
}
