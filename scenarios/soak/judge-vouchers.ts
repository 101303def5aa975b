import { sql } from '../../src/database/db.ts'
import type { Voucher } from '../../src/domain/vouchers/vouchers.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import type { Client } from './client.ts'
import { difference } from './compare.ts'
import type { Done } from './staff.ts'
import type { WorldBehind } from './world.ts'

/** Balances of vouchers here and there, and what drew on them. */
export async function judgeVouchers(
  world: WorldBehind,
  client: Client,
  done: Done,
  usedBefore: ReadonlyMap<string, number>,
): Promise<Verdict[]> {
  const {
    simulator: { state, ledger, clock },
    db,
    service,
  } = world
  const cents = (amount: number) => Math.round(amount * 100)
  const sumBy = (list: Iterable<[string, number]>) => {
    const sums = new Map<string, number>()
    for (const [key, amount] of list) sums.set(key, (sums.get(key) ?? 0) + amount)
    return sums
  }
  const effects = ledger
    .effectsOf('voucher drawn')
    .map(({ id, facts }) => ({ id, order: String(facts.order), amount: cents(Number(facts.amount)) }))
  const drawn = sumBy(effects.map(({ id, amount }) => [id, amount]))
  const line = (number: string, order: string, amount: number) => `${number} for ${order}: ${amount}`
  const paid = await db.rows<{ number: string; order: string; amount: string }>(sql`
    select voucher_number as number, order_id as order, amount::text as amount from order_payment where service_id = ${service.id} and voucher_number is not null`)
  const vouchers = [...state.vouchers.values()]
  const today = new Date(clock.wall()).toISOString().slice(0, 10)
  const wrong: string[] = []
  let looked = 0
  for (const { number, pin, used, original, writtenOff, state: is, secure, currency, expires } of vouchers) {
    if (is !== 'issued' || !secure || currency !== 'AUD' || (expires && expires < today)) continue
    looked++
    const left = cents(original - used - writtenOff)
    const body = { number, pin }
    const { json } = await client.ask<Voucher>({ method: 'POST', path: '/vouchers/lookup', body })
    const told = json.data
      ? [cents(Number(json.data.usedAmount)), cents(Number(json.data.availableAmount))]
      : [json.code, json.reason]
    const due = left > 0 ? [cents(used), left] : ['voucher_unusable', 'redeemed']
    if (told.join() !== due.join()) wrong.push(`${number}: ${told.join(' ')}, not ${due.join(' ')}`)
  }
  return [
    verdict('vouchers: each look-up tells the balance that the back office has', wrong, looked),
    verdict(
      'vouchers: what was used of each is what it was, what tills took, and what orders drew',
      vouchers.flatMap(({ number, used }) => {
        const due = cents((usedBefore.get(number) ?? 0) + (done.taken.get(number) ?? 0)) + (drawn.get(number) ?? 0)
        return cents(used) === due ? [] : [`${number}: ${cents(used)}, not ${due}`]
      }),
    ),
    verdict(
      'vouchers: each draw at the back office is a payment here, and none is doubled',
      [
        ...difference(
          effects.map(({ id, order, amount }) => line(id, order, amount)),
          paid.map(({ number, order, amount }) => line(number, order, cents(Number(amount)))),
        ),
        ...(effects.length === paid.length ? [] : [`${effects.length} draws, ${paid.length} payments`]),
      ],
      effects.length,
    ),
  ]
}
