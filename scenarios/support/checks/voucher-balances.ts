import type { Simulator } from '../../../simulator/control/handle.ts'
import { type Db, sql } from '../../../src/database/db.ts'
import type { ShopperClient } from '../actors/shoppers.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import { compareKeys } from './compare.ts'

const toCents = (amount: number) => Math.round(amount * 100)

/** Compares voucher balances of the API and the back office with everything that drew on them. Amounts in both maps are dollars. */
export async function checkVoucherBalances(
  { state, ledger, clock }: Simulator,
  db: Db,
  serviceId: number,
  client: ShopperClient,
  usedBefore: ReadonlyMap<string, number>,
  drawnByTills: ReadonlyMap<string, number>,
): Promise<CheckResult[]> {
  const draws = ledger
    .findEffects('voucher drawn')
    .map(({ id, facts }) => ({ number: id, order: String(facts.order), cents: toCents(Number(facts.amount)) }))
  const drawnByOrders = new Map<string, number>()
  for (const { number, cents } of draws) drawnByOrders.set(number, (drawnByOrders.get(number) ?? 0) + cents)
  const payments = await db.rows<{ number: string; order: string; amount: string }>(sql`
    select voucher_number as number, order_id as order, amount::text as amount from order_payment where service_id = ${serviceId} and voucher_number is not null`)
  const vouchers = [...state.vouchers.values()]
  const today = new Date(clock.wall()).toISOString().slice(0, 10)
  const usable = vouchers.filter(
    ({ state: status, secure, currency, expires }) =>
      status === 'issued' && secure && currency === 'AUD' && (!expires || expires >= today),
  )
  const wrong: string[] = []
  for (const { number, pin, used, original, writtenOff } of usable) {
    const availableCents = toCents(original - used - writtenOff)
    const { data, code, reason } = await client.repeatUntilFinal(api => api.vouchers.lookUp({ number, pin }))
    const actual = data
      ? [data.usedAmount, data.availableAmount].map(amount => toCents(Number(amount)))
      : [code, reason]
    const expected = availableCents > 0 ? [toCents(used), availableCents] : ['voucher_unusable', 'redeemed']
    if (actual.join() !== expected.join()) wrong.push(`${number}: ${actual.join(' ')}, not ${expected.join(' ')}`)
  }
  const format = (number: string, order: string, cents: number) => `${number} for ${order}: ${cents}`
  return [
    check('vouchers: each lookup returns the balance of the back office', wrong, usable.length),
    check(
      'vouchers: the used amount of each is that before, plus the draws of tills and orders, and at most its value',
      vouchers.flatMap(({ number, used, original }) => {
        const expected =
          toCents((usedBefore.get(number) ?? 0) + (drawnByTills.get(number) ?? 0)) + (drawnByOrders.get(number) ?? 0)
        return toCents(used) === expected && used <= original ? [] : [`${number}: ${toCents(used)}, not ${expected}`]
      }),
    ),
    check(
      'vouchers: each draw at the back office is one payment in our tables, and the reverse',
      [
        ...compareKeys(
          draws.map(({ number, order, cents }) => format(number, order, cents)),
          payments.map(({ number, order, amount }) => format(number, order, toCents(Number(amount)))),
        ),
        ...(draws.length === payments.length ? [] : [`${draws.length} draws, ${payments.length} payments`]),
      ],
      draws.length,
    ),
  ]
}
