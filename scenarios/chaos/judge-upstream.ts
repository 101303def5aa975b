import { setTimeout as delay } from 'node:timers/promises'
import { type Db, sql } from '../../src/database/db.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import { factsOf } from './facts.ts'
import type { Shop } from './shoppers.ts'
import { timeIsUp, type Upstream } from './upstream.ts'
import type { World } from './world.ts'

/** Holds what clients were told against the database, and the database against the back office. */
export async function judgeUpstream(
  { db, service, log }: World,
  { remote }: Upstream,
  shop: Shop,
  seen: ReadonlySet<string>,
): Promise<Verdict[]> {
  const { id } = service
  const facts = factsOf(db, id, shop)
  const left = await untilSettled(db)
  const idsHere = async (kind: 'sales_order' | 'upstream_voucher_sale') =>
    (kind === 'sales_order'
      ? await db.rows<{ id: string }>(sql`select id from sales_order where service_id = ${id}`)
      : await db.rows<{ id: string }>(sql`select order_id as id from upstream_voucher_sale where service_id = ${id}`)
    ).map(row => row.id)
  const orders = await idsHere('sales_order')
  const sales = await idsHere('upstream_voucher_sale')
  const placed = (await remote.effectsOf('order created')).map(effect => String(effect.id))
  const returned = await remote.effectsOf('return created')
  const [{ returns } = { returns: 0 }] = await db.rows<{ returns: number }>(
    sql`select count(*)::integer as returns from sales_return where service_id = ${id}`,
  )
  const drawn = new Map(
    (
      await db.rows<{ number: string; amount: string }>(
        sql`select voucher_number as number, sum(amount)::text as amount from order_payment where service_id = ${id} and voucher_number is not null group by 1`,
      )
    ).map(({ number, amount }) => [number, Math.round(Number(amount) * 100)] as const),
  )
  const vouchers = await remote.vouchers()
  const isUsed = new Set(shop.vouchers.map(({ number }) => number))
  const here = [...orders, ...sales]

  return [
    ...(await facts.writes(
      seen,
      sql`select order_number as key, count(*)::integer as count from upstream_voucher_sale where service_id = ${id} group by 1`,
    )),
    verdict('nothing stays open, or held', left),
    verdict(
      'each order of the back office is here',
      placed.filter(each => !here.includes(each)),
      placed.length,
    ),
    verdict(
      'each order that is here is at the back office',
      here.filter(each => !placed.includes(each)),
      here.length,
    ),
    verdict(
      'there are as many returns here as at the back office',
      returned.length === returns ? [] : [`${returns} here, ${returned.length} there`],
    ),
    verdict(
      'what orders here were paid with is what was drawn of each voucher there, and no more than there was',
      vouchers
        .filter(({ number }) => isUsed.has(number))
        .filter(
          ({ number, used, original }) =>
            Math.round(used * 100) !== (drawn.get(number) ?? 0) + (shop.usedBefore.get(number) ?? 0) || used > original,
        )
        .map(({ number, used }) => `${number}: ${drawn.get(number)} here, ${used} there`),
      isUsed.size,
    ),
    verdict('nothing unexpected was logged', log.filter(line => /internal_error|unhandled/i.test(line)).slice(0, 3)),
  ]
}

/** Waits until the worker has found out what became of all that was left open, without its pauses; not for ever. Returns what is left. */
async function untilSettled(db: Db): Promise<string[]> {
  const open = () =>
    db.rows<{ what: string }>(
      sql`select operation as what from intent union all select 'something held' from reservation where reserved_until > now() - interval '1 s'`,
    )
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(300)) {
    const left = await open().catch(() => [{ what: 'unknown' }])
    if (left.length === 0) return []
    await timeIsUp(db).catch(() => {})
  }
  return (await open()).map(({ what }) => what)
}
