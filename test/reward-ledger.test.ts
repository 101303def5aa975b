import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { Check } from 'typebox/value'
import { openDatabase, sql } from '../src/db.ts'
import { lastDay } from '../src/domain/reward-rules.ts'
import { RewardAccount } from '../src/domain/rewards.ts'
import { upsertCustomers } from '../src/store/customers.ts'
import { earnRewards, restoreRewards, reverseRewards } from '../src/store/reward-ledger.ts'
import { upsertPrograms, upsertRewardAccounts, upsertRewardLots } from '../src/store/rewards.ts'
import { type Caller, startTestService, type TestService } from './service.ts'

let api: TestService
before(async () => {
  api = await startTestService()
})
after(() => api.stop())

const program = { programId: '1', name: 'Retail Rewards' }
const tier = (tierId: string, qualifySpend: string | null, more: object = {}) => ({
  program,
  tier: {
    programId: '1',
    tierId,
    name: `Tier ${tierId}`,
    sequence: Number(tierId),
    accrualSpend: '1.00',
    accrualPoints: 1,
    autoRewardPointThreshold: 300,
    autoRewardValue: '10.00',
    qualifySpend,
    qualifyMonths: 12,
    pointsExpiryMonths: 24,
    rewardExpiryMonths: 6,
    rewardExpiryDays: 1,
    ...more,
  },
})
const ladder = [
  tier('1', '0.00'),
  tier('2', '500.00', { accrualPoints: 2 }),
  tier('3', '1500.00', { autoRewardValue: '15.00' }),
]

/** A customer with a reward account, in a tenant of its own. */
async function member({ tiers = ladder, account = {}, timeZone = 'Australia/Melbourne' } = {}) {
  const shop = await api.tenant({ currency: 'AUD', timeZone, readsPerMinute: 'off' })
  const { service } = shop
  await upsertPrograms(api.db, service, tiers)
  await upsertCustomers(api.db, service, [{ id: 'c1', firstname: 'Ann', surname: 'Lee' }])
  await upsertRewardAccounts(api.db, service, [{ id: 'a1', customerId: 'c1', programId: '1', tierId: '1', ...account }])
  const customerId = 'c1'
  return {
    shop,
    service,
    earn: (orderNumber: string, amount: string, db = api.db) =>
      db.transaction(tx => earnRewards(tx, service, { customerId, orderNumber, amount })),
    giveBack: (orderNumber: string, amount: string, db = api.db) =>
      db.transaction(tx =>
        reverseRewards(tx, service, { customerId, orderNumber, returnNumber: `R-${orderNumber}`, amount }),
      ),
    cancelReturn: (orderNumber: string) =>
      api.db.transaction(tx =>
        restoreRewards(tx, service, { customerId, orderNumber, returnNumber: `R-${orderNumber}` }),
      ),
    lots: (...rows: object[]) =>
      upsertRewardLots(
        api.db,
        service,
        rows.map(row => ({ accountId: 'a1', kind: 'points', createdAt: '2026-01-05 10:00:00', ...row })),
      ),
    read: () => read(shop),
    today: () => Temporal.Now.plainDateISO(timeZone).toString(),
  }
}

async function read(shop: Caller): Promise<RewardAccount> {
  const { status, json } = await shop.get('/customers/c1/rewards')
  assert.equal(status, 200)
  assert.ok(Check(RewardAccount, json.data), JSON.stringify(json.data))
  return json.data
}

/** A lot in short: what is left of what was given. */
const short = ({ available, total }: RewardAccount['points' | 'rewards'][number]) => `${available} of ${total}`
const balances = ({ availablePoints, availableRewards, pointsToNextReward }: RewardAccount) => [
  availablePoints,
  availableRewards,
  pointsToNextReward,
]
const standing = ({ tierId, nextTierId, spendToNextTier }: RewardAccount) => [tierId, nextTierId, spendToNextTier]

/** What an account's ledger says, a line an entry. */
const entries = async ({ service }: { service: Caller['service'] }) =>
  (
    await api.db.rows<{ text: string }>(sql`
      select concat_ws(' ', kind, trim_scale(amount), case when spend <> 0 then 'spend ' || trim_scale(spend) end, order_number, return_number) as text
        from reward_entry where service_id = ${service.id} order by entry`)
  ).map(({ text }) => text)

test('an order earns a lot of points for each whole step of its amount, named after it, with an expiry', async () => {
  const ann = await member()
  const from = Temporal.Now.plainDateTimeISO('Australia/Melbourne').round({
    smallestUnit: 'second',
    roundingMode: 'floor',
  })
  await ann.earn('W0000001', '123.95')
  const until = Temporal.Now.plainDateTimeISO('Australia/Melbourne')
  const account = await ann.read()
  assert.deepEqual(balances(account), [123, '0.00', 177])
  assert.equal(account.points.length, 1)
  const { createdAt = '', expiryDate, description, redeemed, total } = account.points[0] ?? {}
  assert.deepEqual([description, total, redeemed], ['Order W0000001', 123, 0])
  const created = Temporal.PlainDateTime.from(createdAt)
  assert.ok(
    Temporal.PlainDateTime.compare(from, created) <= 0 && Temporal.PlainDateTime.compare(created, until) <= 0,
    createdAt,
  )
  assert.equal(expiryDate, lastDay(createdAt.slice(0, 10), { months: 24, days: 0 }))
  assert.deepEqual(await entries(ann), ['earn 123 spend 123.95 W0000001'])
})

test('the day is that of the time zone of the service', async () => {
  const days = ['Pacific/Kiritimati', 'Etc/GMT+12'].map(async timeZone => {
    const ann = await member({ timeZone })
    const from = ann.today()
    await ann.earn('W1', '10.00')
    const [lot] = (await ann.read()).points
    const day = lot?.createdAt.slice(0, 10) ?? ''
    assert.ok(from <= day && day <= ann.today())
    assert.equal(lot?.expiryDate, lastDay(day, { months: 24, days: 0 }))
    return day
  })
  const [east = '', west = ''] = await Promise.all(days)
  assert.ok(east > west, 'the two zones are 26 hours apart')
})

test('who has no reward account earns nothing, and nothing is taken back', async () => {
  const ann = await member()
  await upsertCustomers(api.db, ann.service, [{ id: 'c2', firstname: 'Bob' }])
  await api.db.transaction(async tx => {
    await earnRewards(tx, ann.service, { customerId: 'c2', orderNumber: 'W1', amount: '500.00' })
    await reverseRewards(tx, ann.service, { customerId: 'c2', orderNumber: 'W1', returnNumber: 'R1', amount: '500.00' })
  })
  assert.deepEqual(await entries(ann), [])
  assert.equal((await ann.shop.get('/customers/c2/rewards')).status, 404)
})

test('an order that is not committed has earned nothing', async () => {
  const ann = await member()
  await assert.rejects(
    api.db.transaction(async tx => {
      await earnRewards(tx, ann.service, { customerId: 'c1', orderNumber: 'W1', amount: '700.00' })
      throw new Error('the order fails')
    }),
    /the order fails/,
  )
  const account = await ann.read()
  assert.deepEqual(balances(account), [0, '0.00', 300])
  assert.deepEqual(standing(account), ['1', '2', '500.00'])
})

test('points that are enough become rewards, and those that expire first are used first', async () => {
  const ann = await member()
  await ann.lots(
    { lotId: 'late', total: '100', expiryDate: '2099-12-31' },
    { lotId: 'ever', total: '100' },
    { lotId: 'soon', total: '150', redeemed: '20', pending: '30', expiryDate: '2098-12-31' },
    { lotId: 'gone', total: '500', expiryDate: '2020-12-31' },
  )
  // 100 + 100 + 100 are open; the order's own lot, of 24 months, goes first of all.
  await ann.earn('W1', '450.00')
  const account = await ann.read()
  assert.deepEqual(
    account.points.map(lot => [lot.id.length > 9 ? 'own' : lot.id, short(lot)]),
    [
      ['own', '0 of 450'],
      ['soon', '0 of 150'],
      ['late', '50 of 100'],
      ['ever', '100 of 100'],
    ],
  )
  assert.deepEqual(account.rewards.map(short), ['10.00 of 10.00', '10.00 of 10.00'])
  assert.deepEqual(balances(account), [150, '20.00', 150])
  for (const { description, createdAt, expiryDate } of account.rewards) {
    assert.equal(description, 'Reward for 300 points')
    assert.equal(expiryDate, lastDay(createdAt.slice(0, 10), { months: 6, days: 1 }))
  }
  const ids = [...account.points, ...account.rewards].map(lot => lot.id)
  assert.equal(new Set(ids).size, ids.length)
})

test('spend moves an account up, over a tier where it is enough, and the tier is locked for its period', async () => {
  const ann = await member({ account: { qualifyingSpend: '100.00' } })
  await ann.earn('W1', '399.99')
  assert.deepEqual(standing(await ann.read()), ['1', '2', '0.01'])
  const from = ann.today()
  await ann.earn('W2', '0.01')
  const second = await ann.read()
  assert.deepEqual(standing(second), ['2', '3', '1000.00'])
  const locked = [from, ann.today()].map(day => lastDay(day, { months: 12, days: 0 }))
  assert.ok(locked.includes(second.tierLockedUntilDate), String(second.tierLockedUntilDate))
  await ann.earn('W3', '50.00')
  const third = (await ann.read()).points.find(lot => lot.description === 'Order W3')
  assert.equal(third?.total, 100, 'two points for each dollar in the second tier')
  const bob = await member()
  await bob.earn('W1', '1500.00')
  const highest = await bob.read()
  assert.deepEqual(standing(highest), ['3', null, null])
  assert.equal(highest.availableRewards, '50.00', 'by the tier in which they were earned')
})

test('where points become no rewards, none is near; a tier that is not reached by spending is not the next', async () => {
  const tiers = [tier('1', '0.00', { autoRewardValue: null }), tier('2', null), tier('3', '1500.00')]
  const ann = await member({ tiers })
  await ann.earn('W1', '400.00')
  const account = await ann.read()
  assert.deepEqual(balances(account), [400, '0.00', null])
  assert.deepEqual(standing(account), ['1', '3', '1100.00'])
  await ann.earn('W2', '1100.00')
  assert.deepEqual(standing(await ann.read()), ['3', null, null])
  assert.deepEqual(balances(await ann.read()), [0, '50.00', 300])
})

test('a tier that asks for fewer points makes rewards of them as soon as it is reached', async () => {
  const tiers = [tier('1', '0.00'), tier('2', '200.00', { autoRewardPointThreshold: 100, autoRewardValue: '5.00' })]
  const ann = await member({ tiers })
  await ann.earn('W1', '250.00')
  assert.deepEqual(balances(await ann.read()), [50, '10.00', 50])
})

test('a tier lives on through its day, and is judged by the spend at the next order after it', async () => {
  const day = (days: number) => Temporal.Now.plainDateISO('Australia/Melbourne').add({ days }).toString()
  const kept = await member({ account: { tierId: '3', tierLockedUntilDate: day(1), qualifyingSpend: '600.00' } })
  await kept.earn('W1', '10.00')
  assert.equal((await kept.read()).tierId, '3')
  const past = await member({ account: { tierId: '3', tierLockedUntilDate: day(-2), qualifyingSpend: '600.00' } })
  await past.earn('W1', '10.00')
  const fallen = await past.read()
  assert.deepEqual(standing(fallen), ['2', '3', '890.00'])
  assert.equal(fallen.availablePoints, 20, 'what it falls to is what it earns by')
})

test('a return takes back the share of what the order earned, in pieces exactly as much as at once', async () => {
  const ann = await member()
  await ann.earn('W1', '100.00')
  const left = []
  for (const piece of ['33.33', '33.33', '33.34']) {
    await ann.giveBack('W1', piece)
    left.push((await ann.read()).availablePoints)
  }
  assert.deepEqual(left, [67, 34, 0])
  await ann.giveBack('W1', '50.00')
  const account = await ann.read()
  assert.deepEqual(account.points.map(short), ['0 of 100'])
  assert.deepEqual(balances(account), [0, '0.00', 300])
  assert.deepEqual(standing(account), ['1', '2', '500.00'])
  assert.deepEqual((await entries(ann)).slice(-2), ['return 0 spend -33.34 W1 R-W1', 'reverse -34 W1 R-W1'])
})

test('the order whose points come back gives its own lot first, then what expires first', async () => {
  const ann = await member()
  await ann.earn('W1', '100.00')
  await ann.earn('W2', '90.00')
  // Somebody has used most of the first order's points elsewhere.
  await api.db.run(
    sql`update reward_lot set redeemed = 80 where service_id = ${ann.service.id} and description = 'Order W1'`,
  )
  await ann.lots({ lotId: 'soon', total: '30', expiryDate: ann.today() })
  await ann.giveBack('W1', '60.00')
  const of = async () =>
    Object.fromEntries((await ann.read()).points.map(lot => [lot.description ?? lot.id, lot.available]))
  assert.deepEqual(await of(), { 'Order W1': 0, 'Order W2': 80, soon: 0 })
})

test('points that have expired unused are taken back where they lie, and cost no others', async () => {
  const ann = await member()
  await ann.earn('W1', '100.00')
  await api.db.run(sql`update reward_lot set expiry_date = '2020-01-01' where service_id = ${ann.service.id}`)
  await ann.earn('W2', '90.00')
  await ann.giveBack('W1', '100.00')
  assert.deepEqual(balances(await ann.read()), [90, '0.00', 210])
  assert.equal((await entries(ann)).at(-1), 'reverse -100 W1 R-W1')
})

test('a reward that nobody used goes back with the points it was made of; its other points are given again', async () => {
  const ann = await member()
  await ann.earn('W1', '200.00')
  await ann.earn('W2', '130.00')
  assert.deepEqual(balances(await ann.read()), [30, '10.00', 270])
  const [reward] = (await ann.read()).rewards
  await ann.giveBack('W2', '130.00')
  const account = await ann.read()
  assert.deepEqual(balances(account), [200, '0.00', 100])
  assert.deepEqual(account.rewards.map(short), ['0.00 of 10.00'])
  const restored = account.points.find(lot => lot.description === 'Points of a reward, return R-W2')
  assert.deepEqual([restored && short(restored), restored?.expiryDate], ['200 of 300', reward?.expiryDate])
  await ann.giveBack('W1', '200.00')
  assert.deepEqual(balances(await ann.read()), [0, '0.00', 300])
})

test('points that are used up are owed: the balance stays at zero, and what is earned next settles them', async () => {
  const ann = await member()
  await ann.earn('W1', '300.00')
  await api.db.run(sql`update reward_lot set redeemed = 4 where service_id = ${ann.service.id} and kind = 'reward'`)
  await ann.giveBack('W1', '300.00')
  const owing = await ann.read()
  assert.deepEqual(balances(owing), [0, '6.00', 600])
  assert.equal((await entries(ann)).at(-1), 'owe -300 W1 R-W1')
  await ann.earn('W2', '120.00')
  assert.deepEqual(balances(await ann.read()), [0, '6.00', 480])
  await ann.earn('W3', '200.00')
  assert.deepEqual(balances(await ann.read()), [20, '6.00', 280])
  await ann.giveBack('W3', '200.00')
  assert.deepEqual(balances(await ann.read()), [0, '6.00', 480])
})

test('an order from before the account, or of somebody else, takes nothing back', async () => {
  const ann = await member({ account: { qualifyingSpend: '400.00' } })
  await ann.lots({ lotId: 'old', total: '100' })
  await ann.giveBack('W0', '50.00')
  const account = await ann.read()
  assert.deepEqual(balances(account), [100, '0.00', 200])
  assert.deepEqual(standing(account), ['1', '2', '100.00'])
  assert.deepEqual(await entries(ann), [])
})

test('the tier that a return leaves too little spend for is kept until its day', async () => {
  const ann = await member()
  await ann.earn('W1', '600.00')
  await ann.giveBack('W1', '600.00')
  const kept = await ann.read()
  assert.deepEqual(standing(kept), ['2', '3', '1500.00'])
  await api.db.run(
    sql`update reward_account set tier_locked_until_date = '2020-01-01' where service_id = ${ann.service.id}`,
  )
  await ann.earn('W2', '1.00')
  assert.deepEqual(standing(await ann.read()), ['1', '2', '499.00'])
})

test('a return that is cancelled gives again exactly what it took, once, whatever the tier earns by now', async () => {
  const ann = await member()
  await ann.earn('W1', '100.70')
  const expiry = (await ann.read()).points[0]?.expiryDate
  await ann.giveBack('W1', '50.35')
  await ann.earn('W2', '450.00')
  const before = await ann.read()
  assert.deepEqual([...standing(before), ...balances(before)], ['2', '3', '999.65', 200, '10.00', 100])
  await ann.cancelReturn('W1')
  const after = await ann.read()
  assert.deepEqual([...standing(after), ...balances(after)], ['2', '3', '949.30', 250, '10.00', 50])
  const again = after.points.find(lot => lot.description === 'Return R-W1 cancelled')
  assert.deepEqual([again?.total, again?.expiryDate], [50, expiry])
  await ann.cancelReturn('W1')
  assert.deepEqual(await ann.read(), after)
  await ann.giveBack('W1', '100.70')
  assert.equal((await ann.read()).availablePoints, 150)
  await checkLedger(ann)
})

test('what a cancelled return gives again settles first what it left owing', async () => {
  const ann = await member()
  await ann.earn('W1', '300.00')
  await api.db.run(sql`update reward_lot set redeemed = 10 where service_id = ${ann.service.id} and kind = 'reward'`)
  await ann.giveBack('W1', '300.00')
  assert.deepEqual(balances(await ann.read()), [0, '0.00', 600])
  await ann.cancelReturn('W1')
  assert.deepEqual(balances(await ann.read()), [0, '0.00', 300])
  await checkLedger(ann)
})

test('the accounts of another service stay as they are', async () => {
  const ann = await member()
  const bob = await member()
  await bob.earn('W1', '100.00')
  await ann.earn('W1', '40.00')
  await ann.giveBack('W1', '40.00')
  assert.deepEqual(balances(await bob.read()), [100, '0.00', 200])
})

test('importing the same lots again neither gives back what was taken nor takes it twice', async () => {
  const ann = await member()
  const file = [
    { lotId: 'a', total: '200', redeemed: '50', expiryDate: '2099-01-31' },
    { lotId: 'b', total: '100', expiryDate: '2099-02-28' },
  ]
  await ann.lots(...file)
  await ann.earn('W1', '100.00')
  const before = await ann.read()
  assert.deepEqual(balances(before), [50, '10.00', 250])
  assert.deepEqual(await ann.lots(...file), { inserted: 0, changed: 0 })
  assert.deepEqual(await ann.read(), before)
  await assert.rejects(
    ann.lots({ lotId: 'a', total: '200', redeemed: '100' }),
    (error: { constraint?: string }) => error.constraint === 'reward_lot_check',
    'a feed cannot use what was taken here',
  )
})

test('the database takes no entry that would empty a lot below zero, and changes none', async () => {
  const ann = await member()
  await ann.lots({ lotId: 'a', total: '100', pending: '10' })
  const insert = (amount: string) =>
    api.db.run(sql`
      insert into reward_entry (service_id, account_id, kind, lot_kind, lot_id, amount, order_number)
      values (${ann.service.id}, 'a1', 'reverse', 'points', 'a', ${amount}, 'W1')`)
  await assert.rejects(insert('-91'), /reward_lot_check/)
  assert.equal(await insert('-90'), 1)
  await assert.rejects(api.db.run(sql`update reward_entry set amount = 1`), /append-only/)
  assert.deepEqual(balances(await ann.read()), [0, '0.00', 300])
})

test('twenty orders at once lose nothing, nor do the twenty returns of them', async () => {
  const ann = await member()
  const writers = openDatabase(api.database.connection, { max: 20 })
  try {
    const orders = Array.from({ length: 20 }, (_, i) => ({ number: `W${i}`, amount: `${17 + i}.50` }))
    await Promise.all(orders.map(({ number, amount }) => ann.earn(number, amount, writers)))
    // 17 + 18 + … + 36 points; half a dollar of each order counts for the tier alone.
    const account = await ann.read()
    assert.deepEqual([account.tierId, account.spendToNextTier], ['2', '960.00'])
    await checkLedger(ann)
    const earned = (await entries(ann)).filter(text => text.startsWith('earn '))
    assert.equal(earned.length, 20)
    const points = earned.reduce((sum, text) => sum + Number(text.split(' ')[1]), 0)
    assert.equal(account.availablePoints + account.rewards.length * 300, points)
    await Promise.all(orders.map(({ number, amount }) => ann.giveBack(number, amount, writers)))
    assert.deepEqual(balances(await ann.read()), [0, '0.00', 300])
    await checkLedger(ann)
  } finally {
    await writers.close()
  }
})

/** Asserts that balances are the sums of open lots, and lots and debt the sums of the ledger. */
async function checkLedger(ann: Awaited<ReturnType<typeof member>>) {
  const account = await ann.read()
  const sum = (amounts: readonly (string | number)[]) =>
    amounts.reduce<number>((all, amount) => all + Math.round(Number(amount) * 100), 0)
  assert.equal(account.availablePoints * 100, sum(account.points.map(lot => lot.available)))
  assert.equal(sum([account.availableRewards]), sum(account.rewards.map(lot => lot.available)))
  for (const lot of [...account.points, ...account.rewards]) {
    assert.ok(Number(lot.available) >= 0)
    assert.equal(sum([lot.total]), sum([lot.redeemed, lot.pending, lot.available]))
  }
  const odd = await api.db.rows(sql`
    select l.lot_id, l.total, l.taken, e.* from reward_lot l
      left join lateral (select coalesce(sum(amount) filter (where amount > 0), 0) as given, coalesce(-sum(amount) filter (where amount < 0), 0) as taken,
                                bool_or(e.kind in ('earn', 'reward', 'restore', 'cancel')) as here
                           from reward_entry e where (e.service_id, e.account_id, e.lot_kind, e.lot_id) = (l.service_id, l.account_id, l.kind, l.lot_id)) e on true
     where l.service_id = ${ann.service.id} and (l.taken <> e.taken or e.here and l.total <> e.given)`)
  assert.deepEqual(odd, [], 'lots that are not what their entries say')
  const debt = await api.db.row<{ owed: string; ledger: string; kept: string; held: string }>(sql`
    select a.points_owed as owed,
           (select coalesce(sum(case kind when 'owe' then -amount when 'settle' then amount end), 0)::bigint from reward_entry where service_id = a.service_id) as ledger,
           (select coalesce(sum(amount) filter (where kind in ('earn', 'owe', 'cancel') or kind = 'reverse' and lot_kind = 'points'), 0)::bigint from reward_entry where service_id = a.service_id) as kept,
           (select coalesce(sum(amount) filter (where lot_kind = 'points'), 0) - coalesce(sum(amount) filter (where kind in ('convert', 'restore')), 0)
              from reward_entry where service_id = a.service_id)::bigint - a.points_owed as held
      from reward_account a where service_id = ${ann.service.id}`)
  assert.equal(debt?.owed, debt?.ledger)
  assert.equal(debt?.kept, debt?.held, 'what orders have earned is held, converted or was owed')
  if (Number(debt?.owed) > 0) assert.equal(account.availablePoints, 0)
  assert.ok(account.availablePoints < 300)
}

const cents = fc.integer({ min: 1, max: 90_000 }).map(whole => (whole / 100).toFixed(2))
const number = fc.constantFrom('W1', 'W2', 'W3')

test('whatever is bought and returned while time passes, balances are sums of open lots and lots sums of the ledger', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ earn: number, amount: cents }) },
      { weight: 3, arbitrary: fc.record({ giveBack: number, amount: cents }) },
      fc.record({ cancel: number }),
      fc.record({ days: fc.integer({ min: 30, max: 400 }) }),
      fc.record({ use: fc.boolean() }),
    ),
    { minLength: 4, maxLength: 14 },
  )
  type Step = { earn?: string; giveBack?: string; cancel?: string; amount?: string; days?: number; use?: boolean }
  await fc.assert(
    fc.asyncProperty(steps, async (given: Step[]) => {
      const ann = await member()
      for (const { earn, giveBack, cancel, amount = '0', days, use } of given) {
        if (earn) await ann.earn(earn, amount)
        if (giveBack) await ann.giveBack(giveBack, amount)
        if (cancel) await ann.cancelReturn(cancel)
        if (days) await pass(ann.service.id, days)
        if (use)
          await api.db.run(sql`
            update reward_lot set redeemed = total where service_id = ${ann.service.id} and kind = 'reward' and taken = 0
               and lot_id = (select min(lot_id) from reward_lot where service_id = ${ann.service.id} and kind = 'reward' and taken = 0)`)
        await checkLedger(ann)
      }
    }),
    { numRuns: 12 },
  )
})

/** Time passes: every date of an account lies further back. */
async function pass(id: number, days: number) {
  await api.db.run(sql`
    update reward_lot set expiry_date = expiry_date - ${days}::integer, created_at = created_at - make_interval(days => ${days}::integer) where service_id = ${id}`)
  await api.db.run(
    sql`update reward_account set tier_locked_until_date = tier_locked_until_date - ${days}::integer where service_id = ${id}`,
  )
}

test('returning all of what nobody used leaves nothing, however it was bought', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(cents, { minLength: 1, maxLength: 6 }), async amounts => {
      const ann = await member()
      for (const [i, amount] of amounts.entries()) await ann.earn(`W${i}`, amount)
      for (const [i, amount] of amounts.entries()) {
        const half = (Number(amount) / 2).toFixed(2)
        for (const part of [half, amount]) await ann.giveBack(`W${i}`, part)
      }
      const account = await ann.read()
      assert.deepEqual([account.availablePoints, account.availableRewards], [0, '0.00'])
      const owed = await api.db.row<{ points_owed: string; qualifying_spend: string }>(
        sql`select points_owed, trim_scale(qualifying_spend)::text as qualifying_spend from reward_account where service_id = ${ann.service.id}`,
      )
      assert.deepEqual({ ...owed }, { points_owed: '0', qualifying_spend: '0' })
    }),
    { numRuns: 10 },
  )
})

test('the calendar counts as PostgreSQL does', async () => {
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
    cases.map(({ today, ...span }) => lastDay(today, span)),
    expected,
  )
})
