import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { openDatabase, sql } from '../../../src/database/db.ts'
import { getLastDay } from '../../../src/domain/rewards/rules.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { earnRewards, lockRewardAccount, reverseRewards } from '../../../src/store/rewards/ledger.ts'
import { buildTier, createMember, formatLot, getBalances, getTierProgress } from '../../support/reward-member.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi()
after(() => api.stop())

test('an order earns one expiring lot for each whole step', async () => {
  const ann = await createMember(api)
  const from = Temporal.Now.plainDateTimeISO('Australia/Melbourne').round({
    smallestUnit: 'second',
    roundingMode: 'floor',
  })
  await ann.earn('W0000001', '123.95')
  const to = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  const account = await ann.getAccount()
  assert.deepEqual(getBalances(account), [123, '0.00', 177])
  assert.equal(account.points.length, 1)
  const { createdAt = '', expiryDate, description, redeemed, total } = account.points[0] ?? {}
  assert.deepEqual([description, total, redeemed], ['Order W0000001', 123, 0])
  const created = Temporal.PlainDateTime.from(createdAt)
  assert.ok(
    Temporal.PlainDateTime.compare(from, created) <= 0 && Temporal.PlainDateTime.compare(created, to) <= 0,
    createdAt,
  )
  assert.equal(expiryDate, getLastDay(createdAt.slice(0, 10), { months: 24, days: 0 }))
  assert.deepEqual(await ann.listEntries(), ['earn 123 spend 123.95 W0000001'])
})

test("a day follows the service's time zone", async () => {
  const days = ['Pacific/Kiritimati', 'Etc/GMT+12'].map(async timeZone => {
    const ann = await createMember(api, { timeZone })
    const from = ann.getToday()
    await ann.earn('W1', '10.00')
    const [lot] = (await ann.getAccount()).points
    const day = lot?.createdAt.slice(0, 10) ?? ''
    assert.ok(from <= day && day <= ann.getToday())
    assert.equal(lot?.expiryDate, getLastDay(day, { months: 24, days: 0 }))
    return day
  })
  const [east = '', west = ''] = await Promise.all(days)
  assert.ok(east > west, 'the two zones are 26 hours apart')
})

test('a customer without a reward account earns and loses nothing', async () => {
  const ann = await createMember(api)
  await upsertCustomers(api.db, ann.service, [{ id: 'c2', firstname: 'Bob' }])
  await api.db.transaction(async tx => {
    const account = await lockRewardAccount(tx, ann.service, 'c2')
    await earnRewards(tx, ann.service, account, { orderNumber: 'W1', amount: '500.00' })
    await reverseRewards(tx, ann.service, account, { orderNumber: 'W1', returnNumber: 'R1', amount: '500.00' })
  })
  assert.deepEqual(await ann.listEntries(), [])
  assert.equal((await ann.shop.get('/customers/c2/rewards')).status, 404)
})

test('an uncommitted order earns nothing', async () => {
  const ann = await createMember(api)
  await assert.rejects(
    api.db.transaction(async tx => {
      const account = await lockRewardAccount(tx, ann.service, 'c1')
      await earnRewards(tx, ann.service, account, { orderNumber: 'W1', amount: '700.00' })
      throw new Error('the order fails')
    }),
    /the order fails/,
  )
  const account = await ann.getAccount()
  assert.deepEqual(getBalances(account), [0, '0.00', 300])
  assert.deepEqual(getTierProgress(account), ['1', '2', '500.00'])
})

test('points become rewards at the threshold, earliest expiry first', async () => {
  const ann = await createMember(api)
  await ann.addLots(
    { lotId: 'late', total: '100', expiryDate: '2099-12-31' },
    { lotId: 'ever', total: '100' },
    { lotId: 'soon', total: '150', redeemed: '20', pending: '30', expiryDate: '2098-12-31' },
    { lotId: 'gone', total: '500', expiryDate: '2020-12-31' },
  )
  // Three lots have 100 open points each. The lot of the order expires in 24 months, so its points are used first.
  await ann.earn('W1', '450.00')
  const account = await ann.getAccount()
  assert.deepEqual(
    account.points.map(lot => [lot.id.length > 9 ? 'own' : lot.id, formatLot(lot)]),
    [
      ['own', '0 of 450'],
      ['soon', '0 of 150'],
      ['late', '50 of 100'],
      ['ever', '100 of 100'],
    ],
  )
  assert.deepEqual(account.rewards.map(formatLot), ['10.00 of 10.00', '10.00 of 10.00'])
  assert.deepEqual(getBalances(account), [150, '20.00', 150])
  for (const { description, createdAt, expiryDate } of account.rewards) {
    assert.equal(description, 'Reward for 300 points')
    assert.equal(expiryDate, getLastDay(createdAt.slice(0, 10), { months: 6, days: 1 }))
  }
  const ids = [...account.points, ...account.rewards].map(lot => lot.id)
  assert.equal(new Set(ids).size, ids.length)
})

test('spend can raise an account several tiers and locks the tier', async () => {
  const ann = await createMember(api, { account: { qualifyingSpend: '100.00' } })
  await ann.earn('W1', '399.99')
  assert.deepEqual(getTierProgress(await ann.getAccount()), ['1', '2', '0.01'])
  const from = ann.getToday()
  await ann.earn('W2', '0.01')
  const second = await ann.getAccount()
  assert.deepEqual(getTierProgress(second), ['2', '3', '1000.00'])
  const lockDates = [from, ann.getToday()].map(day => getLastDay(day, { months: 12, days: 0 }))
  assert.ok(lockDates.includes(second.tierLockedUntilDate), String(second.tierLockedUntilDate))
  await ann.earn('W3', '50.00')
  const third = (await ann.getAccount()).points.find(lot => lot.description === 'Order W3')
  assert.equal(third?.total, 100, 'two points for each dollar in the second tier')
  const bob = await createMember(api)
  await bob.earn('W1', '1500.00')
  const highest = await bob.getAccount()
  assert.deepEqual(getTierProgress(highest), ['3', null, null])
  assert.equal(highest.availableRewards, '50.00', 'rewards use the tier in which their points were earned')
})

test('an account without redeemable points or reachable tier shows no next goal', async () => {
  const tiers = [buildTier('1', '0.00', { autoRewardValue: null }), buildTier('2', null), buildTier('3', '1500.00')]
  const ann = await createMember(api, { tiers })
  await ann.earn('W1', '400.00')
  const account = await ann.getAccount()
  assert.deepEqual(getBalances(account), [400, '0.00', null])
  assert.deepEqual(getTierProgress(account), ['1', '3', '1100.00'])
  await ann.earn('W2', '1100.00')
  assert.deepEqual(getTierProgress(await ann.getAccount()), ['3', null, null])
  assert.deepEqual(getBalances(await ann.getAccount()), [0, '50.00', 300])
})

test('a tier with a lower threshold creates rewards as soon as reached', async () => {
  const tiers = [
    buildTier('1', '0.00'),
    buildTier('2', '200.00', { autoRewardPointThreshold: 100, autoRewardValue: '5.00' }),
  ]
  const ann = await createMember(api, { tiers })
  await ann.earn('W1', '250.00')
  assert.deepEqual(getBalances(await ann.getAccount()), [50, '10.00', 50])
})

test('a tier lasts through its end date until the next order', async () => {
  const toDay = (days: number) => Temporal.Now.plainDateISO('Australia/Melbourne').add({ days }).toString()
  const member = await createMember(api, {
    account: { tierId: '3', tierLockedUntilDate: toDay(1), qualifyingSpend: '600.00' },
  })
  await member.earn('W1', '10.00')
  assert.equal((await member.getAccount()).tierId, '3')
  const past = await createMember(api, {
    account: { tierId: '3', tierLockedUntilDate: toDay(-2), qualifyingSpend: '600.00' },
  })
  await past.earn('W1', '10.00')
  const downgraded = await past.getAccount()
  assert.deepEqual(getTierProgress(downgraded), ['2', '3', '890.00'])
  assert.equal(downgraded.availablePoints, 20, 'the order must earn by the lower tier')
})

test("another service's accounts stay unchanged", async () => {
  const ann = await createMember(api)
  const bob = await createMember(api)
  await bob.earn('W1', '100.00')
  await ann.earn('W1', '40.00')
  await ann.returnItems('W1', '40.00')
  assert.deepEqual(getBalances(await bob.getAccount()), [100, '0.00', 200])
})

test('importing lots again neither restores nor repeats a deduction', async () => {
  const ann = await createMember(api)
  const file = [
    { lotId: 'a', total: '200', redeemed: '50', expiryDate: '2099-01-31' },
    { lotId: 'b', total: '100', expiryDate: '2099-02-28' },
  ]
  await ann.addLots(...file)
  await ann.earn('W1', '100.00')
  const before = await ann.getAccount()
  assert.deepEqual(getBalances(before), [50, '10.00', 250])
  assert.deepEqual(await ann.addLots(...file), { inserted: 0, changed: 0 })
  assert.deepEqual(await ann.getAccount(), before)
  await assert.rejects(
    ann.addLots({ lotId: 'a', total: '200', redeemed: '100' }),
    (error: { constraint?: string }) => error.constraint === 'reward_lot_check',
    "a sync can't redeem points that are already used",
  )
})

test('the database rejects an entry that would make a lot negative', async () => {
  const ann = await createMember(api)
  await ann.addLots({ lotId: 'a', total: '100', pending: '10' })
  const insert = (amount: string) =>
    api.db.run(sql`
      insert into reward_entry (service_id, account_id, kind, lot_kind, lot_id, amount, order_number)
      values (${ann.service.id}, 'a1', 'reverse', 'points', 'a', ${amount}, 'W1')`)
  await assert.rejects(insert('-91'), /reward_lot_check/)
  assert.equal(await insert('-90'), 1)
  await assert.rejects(api.db.run(sql`update reward_entry set amount = 1`), /append-only/)
  assert.deepEqual(getBalances(await ann.getAccount()), [0, '0.00', 300])
})

test('twenty concurrent orders and their twenty returns lose no points', async () => {
  const ann = await createMember(api)
  const writers = openDatabase(api.database.connection, { max: 20 })
  try {
    const orders = Array.from({ length: 20 }, (_, i) => ({ number: `W${i}`, amount: `${17 + i}.50` }))
    await Promise.all(orders.map(({ number, amount }) => ann.earn(number, amount, writers)))
    // 17 + 18 + … + 36 points. The 0.50 of each order earns no points, but counts for the tier.
    const account = await ann.getAccount()
    assert.deepEqual([account.tierId, account.spendToNextTier], ['2', '960.00'])
    await ann.checkLedger()
    const earned = (await ann.listEntries()).filter(text => text.startsWith('earn '))
    assert.equal(earned.length, 20)
    const points = earned.reduce((sum, text) => sum + Number(text.split(' ')[1]), 0)
    assert.equal(account.availablePoints + account.rewards.length * 300, points)
    await Promise.all(orders.map(({ number, amount }) => ann.returnItems(number, amount, writers)))
    assert.deepEqual(getBalances(await ann.getAccount()), [0, '0.00', 300])
    await ann.checkLedger()
  } finally {
    await writers.close()
  }
})

test('calendar arithmetic matches PostgreSQL', async () => {
  const days = fc.sample(fc.integer({ min: 0, max: 40_000 }), 500)
  const cases = days.map((day, i) => ({
    today: Temporal.PlainDate.from('2000-01-01').add({ days: day }).toString(),
    months: i % 40,
    days: (i * 7) % 60,
  }))
  const rows = await api.db.rows<{ expected: string }>(sql`
    select (today + make_interval(months => months, days => days))::date::text as expected
      from json_to_recordset(${JSON.stringify(cases)}) as c (today date, months integer, days integer)`)
  const expected = rows.map((row, i) => (cases[i]?.months || cases[i]?.days ? row.expected : null))
  assert.deepEqual(
    cases.map(({ today, ...span }) => getLastDay(today, span)),
    expected,
  )
})
