import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../../src/database/db.ts'
import { createMember, formatLot, getBalances, getTierProgress } from '../../support/reward-member.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi()
after(() => api.stop())

test('partial returns take back exactly what one full return would', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '100.00')
  const remaining = []
  for (const piece of ['33.33', '33.33', '33.34']) {
    await ann.returnItems('W1', piece)
    remaining.push((await ann.getAccount()).availablePoints)
  }
  assert.deepEqual(remaining, [67, 34, 0])
  await ann.returnItems('W1', '50.00')
  const account = await ann.getAccount()
  assert.deepEqual(account.points.map(formatLot), ['0 of 100'])
  assert.deepEqual(getBalances(account), [0, '0.00', 300])
  assert.deepEqual(getTierProgress(account), ['1', '2', '500.00'])
  assert.deepEqual((await ann.listEntries()).slice(-2), ['return 0 spend -33.34 W1 R-W1', 'reverse -34 W1 R-W1'])
})

test('a return first takes its own lot, then the earliest expiring lots', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '100.00')
  await ann.earn('W2', '90.00')
  // Another order has used most of the first order's points.
  await api.db.run(
    sql`update reward_lot set redeemed = 80 where service_id = ${ann.service.id} and description = 'Order W1'`,
  )
  await ann.addLots({ lotId: 'soon', total: '30', expiryDate: ann.getToday() })
  await ann.returnItems('W1', '60.00')
  const getAvailableByLot = async () =>
    Object.fromEntries((await ann.getAccount()).points.map(lot => [lot.description ?? lot.id, lot.available]))
  assert.deepEqual(await getAvailableByLot(), { 'Order W1': 0, 'Order W2': 80, soon: 0 })
})

test('expired unused points are taken back in place at no further cost', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '100.00')
  await api.db.run(sql`update reward_lot set expiry_date = '2020-01-01' where service_id = ${ann.service.id}`)
  await ann.earn('W2', '90.00')
  await ann.returnItems('W1', '100.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [90, '0.00', 210])
  assert.equal((await ann.listEntries()).at(-1), 'reverse -100 W1 R-W1')
})

test('an unused reward is taken back and its other points are restored', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '200.00')
  await ann.earn('W2', '130.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [30, '10.00', 270])
  const [reward] = (await ann.getAccount()).rewards
  await ann.returnItems('W2', '130.00')
  const account = await ann.getAccount()
  assert.deepEqual(getBalances(account), [200, '0.00', 100])
  assert.deepEqual(account.rewards.map(formatLot), ['0.00 of 10.00'])
  const restored = account.points.find(lot => lot.description === 'Points of a reward, return R-W2')
  assert.deepEqual([restored && formatLot(restored), restored?.expiryDate], ['200 of 300', reward?.expiryDate])
  await ann.returnItems('W1', '200.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [0, '0.00', 300])
})

test('used points become debt that later earnings repay', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '300.00')
  await api.db.run(sql`update reward_lot set redeemed = 4 where service_id = ${ann.service.id} and kind = 'reward'`)
  await ann.returnItems('W1', '300.00')
  const owing = await ann.getAccount()
  assert.deepEqual(getBalances(owing), [0, '6.00', 600])
  assert.equal((await ann.listEntries()).at(-1), 'owe -300 W1 R-W1')
  await ann.earn('W2', '120.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [0, '6.00', 480])
  await ann.earn('W3', '200.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [20, '6.00', 280])
  await ann.returnItems('W3', '200.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [0, '6.00', 480])
})

test('a return of an older or foreign order takes no points', async () => {
  const ann = await createMember(api, { account: { qualifyingSpend: '400.00' } })
  await ann.addLots({ lotId: 'old', total: '100' })
  await ann.returnItems('W0', '50.00')
  const account = await ann.getAccount()
  assert.deepEqual(getBalances(account), [100, '0.00', 200])
  assert.deepEqual(getTierProgress(account), ['1', '2', '100.00'])
  assert.deepEqual(await ann.listEntries(), [])
})

test('a tier is kept until its end date despite a return', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '600.00')
  await ann.returnItems('W1', '600.00')
  const account = await ann.getAccount()
  assert.deepEqual(getTierProgress(account), ['2', '3', '1500.00'])
  await api.db.run(
    sql`update reward_account set tier_locked_until_date = '2020-01-01' where service_id = ${ann.service.id}`,
  )
  await ann.earn('W2', '1.00')
  assert.deepEqual(getTierProgress(await ann.getAccount()), ['1', '2', '499.00'])
})

test('a cancelled return restores exactly what it took, once, at any tier', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '100.70')
  const expiry = (await ann.getAccount()).points[0]?.expiryDate
  await ann.returnItems('W1', '50.35')
  await ann.earn('W2', '450.00')
  const before = await ann.getAccount()
  assert.deepEqual([...getTierProgress(before), ...getBalances(before)], ['2', '3', '999.65', 200, '10.00', 100])
  await ann.cancelReturn('W1')
  const account = await ann.getAccount()
  assert.deepEqual([...getTierProgress(account), ...getBalances(account)], ['2', '3', '949.30', 250, '10.00', 50])
  const restoredLot = account.points.find(lot => lot.description === 'Return R-W1 cancelled')
  assert.deepEqual([restoredLot?.total, restoredLot?.expiryDate], [50, expiry])
  await ann.cancelReturn('W1')
  assert.deepEqual(await ann.getAccount(), account)
  await ann.returnItems('W1', '100.70')
  assert.equal((await ann.getAccount()).availablePoints, 150)
  await ann.checkLedger()
})

test('points restored by a cancelled return repay its debt first', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '300.00')
  await api.db.run(sql`update reward_lot set redeemed = 10 where service_id = ${ann.service.id} and kind = 'reward'`)
  await ann.returnItems('W1', '300.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [0, '0.00', 600])
  await ann.cancelReturn('W1')
  assert.deepEqual(getBalances(await ann.getAccount()), [0, '0.00', 300])
  await ann.checkLedger()
})

test('a cancelled return restores at most the qualifying spend it took', async () => {
  const ann = await createMember(api)
  await ann.earn('W1', '600.00')
  const getSpend = async () =>
    (
      await api.db.row<{ spend: string }>(
        sql`select trim_scale(qualifying_spend)::text as spend from reward_account where service_id = ${ann.service.id}`,
      )
    )?.spend
  // A sync resets the spend of the year.
  const setSpend = (initial: string) =>
    api.db.run(
      sql`update reward_account set qualifying_spend = ${initial}::numeric where service_id = ${ann.service.id}`,
    )
  for (const [initial, expected] of [
    ['0', '0'],
    ['100', '100'],
    ['700', '700'],
  ] as const) {
    await setSpend(initial)
    await ann.returnItems('W1', '600.00')
    await ann.cancelReturn('W1')
    assert.equal(await getSpend(), expected)
    await ann.checkLedger()
  }
})

const cents = fc.integer({ min: 1, max: 90_000 }).map(amount => (amount / 100).toFixed(2))
const number = fc.constantFrom('W1', 'W2', 'W3')

test('balances always equal open lots and lots equal the ledger', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ earn: number, amount: cents }) },
      { weight: 3, arbitrary: fc.record({ returnedOrder: number, amount: cents }) },
      fc.record({ cancel: number }),
      fc.record({ days: fc.integer({ min: 30, max: 400 }) }),
      fc.record({ use: fc.boolean() }),
    ),
    { minLength: 4, maxLength: 14 },
  )
  type Step = { earn?: string; returnedOrder?: string; cancel?: string; amount?: string; days?: number; use?: boolean }
  await fc.assert(
    fc.asyncProperty(steps, async (input: Step[]) => {
      const ann = await createMember(api)
      for (const { earn, returnedOrder, cancel, amount = '0', days, use } of input) {
        if (earn) await ann.earn(earn, amount)
        if (returnedOrder) await ann.returnItems(returnedOrder, amount)
        if (cancel) await ann.cancelReturn(cancel)
        if (days) await passDays(ann.service.id, days)
        if (use)
          await api.db.run(sql`
            update reward_lot set redeemed = total where service_id = ${ann.service.id} and kind = 'reward' and consumed = 0
               and lot_id = (select min(lot_id) from reward_lot where service_id = ${ann.service.id} and kind = 'reward' and consumed = 0)`)
        await ann.checkLedger()
      }
    }),
    { numRuns: 12 },
  )
})

/** Back-dates all dates of an account by this many days. */
async function passDays(id: number, days: number) {
  await api.db.run(sql`
    update reward_lot set expiry_date = expiry_date - ${days}::integer, created_at = created_at - make_interval(days => ${days}::integer) where service_id = ${id}`)
  await api.db.run(
    sql`update reward_account set tier_locked_until_date = tier_locked_until_date - ${days}::integer where service_id = ${id}`,
  )
}

test('returning everything unused leaves nothing, however it was bought', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(cents, { minLength: 1, maxLength: 6 }), async amounts => {
      const ann = await createMember(api)
      for (const [i, amount] of amounts.entries()) await ann.earn(`W${i}`, amount)
      for (const [i, amount] of amounts.entries()) {
        const half = (Number(amount) / 2).toFixed(2)
        for (const part of [half, amount]) await ann.returnItems(`W${i}`, part)
      }
      const account = await ann.getAccount()
      assert.deepEqual([account.availablePoints, account.availableRewards], [0, '0.00'])
      const owed = await api.db.row<{ points_owed: string; qualifying_spend: string }>(
        sql`select points_owed, trim_scale(qualifying_spend)::text as qualifying_spend from reward_account where service_id = ${ann.service.id}`,
      )
      assert.deepEqual({ ...owed }, { points_owed: '0', qualifying_spend: '0' })
    }),
    { numRuns: 10 },
  )
})
