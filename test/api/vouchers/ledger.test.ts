import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Db, sql } from '../../../src/db.ts'
import { stateAfter, voucherStates, voucherSteps } from '../../../src/domain/vouchers/states.ts'
import { ApiError } from '../../../src/errors.ts'
import { drawVoucher, refundVoucher } from '../../../src/store/vouchers/draw.ts'
import { lockVoucher, validateVoucher } from '../../../src/store/vouchers/holding.ts'
import { decideOnVoucher, expireVouchers } from '../../../src/store/vouchers/standing.ts'
import { readVoucher } from '../../../src/store/vouchers/vouchers.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { addVouchers, stepsOf, voucherSettings } from '../../support/voucher-shop.ts'

let api: TestService
before(async () => {
  api = await startTestService({ settings: voucherSettings })
})
after(() => api.stop())

/** Contract 7: which state follows which; the state of a refunded voucher, on which the contract is silent, apart. */
const allowed: Record<string, readonly string[]> = {
  pending: ['active'],
  active: ['locked', 'expired', 'suspended'],
  locked: ['active', 'redeemed'],
  redeemed: ['active'],
  expired: [],
  suspended: ['active'],
}

test('the table of states is the one of the contract', () => {
  for (const from of voucherStates)
    for (const step of voucherSteps)
      for (const left of [0n, 1n]) {
        const to = stateAfter(from, step, left)
        if (to !== undefined && to !== from) assert.ok(allowed[from]?.includes(to), `${from} -${step}-> ${to}`)
        if (from === 'redeemed' && to !== undefined) assert.equal(step, 'refund')
      }
  for (const [from, states] of Object.entries(allowed))
    for (const to of states)
      assert.ok(
        voucherSteps.some(step => [0n, 1n].some(left => stateAfter(from as 'active', step, left) === to)),
        `${from} -> ${to}`,
      )
})

let made = 0
async function voucher(more: Parameters<typeof addVouchers>[2][string] = {}) {
  const number = `ledger-${++made}`
  await addVouchers(api, api, { [number]: more })
  return number
}

/** The code of the error that some work comes to, thrown or returned; what it throws is undone. */
async function outcome<T>(work: (tx: Db) => Promise<T>): Promise<T | string> {
  try {
    const result = await api.db.transaction(work)
    return result instanceof ApiError ? result.code : result
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
}

const validate = (number: string, amount = '1.00') =>
  outcome(tx => validateVoucher(tx, api.keys, api.service, { number, amount }))
const draw = (number: string, validationId: string, amount: string, orderNumber = 'W1') =>
  outcome(tx =>
    drawVoucher(tx, api.keys, api.service, {
      number,
      validationId,
      amount,
      orderNumber,
      pointer: '/payments/0/voucher',
    }),
  )
const hold = (number: string, validationId: string, lockSeconds: number) =>
  outcome(tx =>
    lockVoucher(tx, api.keys, api.service, { number, validationId, lockSeconds, username: 'shop', address: '' }),
  )
const refund = (number: string, amount: string, orderNumber = 'W1') =>
  outcome(tx => refundVoucher(tx, api.service, { number, amount, orderNumber }))

interface Entry {
  kind: string
  state: string
  amount: string
  locked: boolean
}

/** Asserts that a voucher's ledger moves along the table, and that its state and balance are what the ledger says. */
async function isSound(number: string) {
  const entries = await api.db.rows<Entry>(sql`
    select kind, state, amount::text, locked_until is not null as locked from voucher_entry where service_id = ${api.service.id} and number = ${number} order by entry`)
  const row = await api.db.row<{ state: string; cents: string; used: string }>(sql`
    select state, (balance * 100)::bigint::text as cents, ((original_amount - balance) * 100)::bigint::text as used from voucher where service_id = ${api.service.id} and number = ${number}`)
  let [state, cents] = ['pending', 0n]
  const told = entries.map(({ kind, state, amount }) => `${kind} ${state} ${amount}`).join(', ')
  for (const entry of entries) {
    if (entry.state !== state) assert.ok(allowed[state]?.includes(entry.state), told)
    state = entry.state
    cents += BigInt(entry.amount.replace('.', '')) / 100n
    assert.ok(cents >= 0n && cents <= 15_000n, told)
    assert.equal(entry.locked, state === 'locked', told)
    if (state === 'redeemed') assert.equal(cents, 0n, told)
  }
  assert.deepEqual([row?.state, row?.cents, row?.used], [state, String(cents), String(15_000n - cents)], told)
  return { state, cents }
}

const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('validate' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('lock' as const),
      seconds: fc.constantFrom(0, 1, 3_600),
      old: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('draw' as const),
      cents: fc.integer({ min: 0, max: 16_000 }),
      old: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('draw all' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('refund' as const), cents: fc.integer({ min: 0, max: 9_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('suspend' as const, 'resume' as const, 'activate' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('lapse' as const, 'age' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('last day' as const) }) },
)

const money = (cents: number | bigint) => `${BigInt(cents) / 100n}.${String(BigInt(cents) % 100n).padStart(2, '0')}`

test('whatever is done to a voucher, its states move along the table and its ledger sums to its balance', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 1, maxLength: 25 }),
      fc.boolean(),
      async (operations, isPending) => {
        const number = await voucher(isPending ? { state: 'pending' } : {})
        const here = sql`service_id = ${api.service.id} and number = ${number}`
        let [newest, older] = ['none', 'none']
        let drawn = 0n
        for (const each of operations) {
          const before = await isSound(number)
          if (each.do === 'validate') {
            const id = await validate(number, '0.01')
            if (typeof id === 'string' && id.length === 32) [newest, older] = [id, newest]
          } else if (each.do === 'lock') await hold(number, each.old ? older : newest, each.seconds)
          else if (each.do === 'draw' || each.do === 'draw all') {
            const cents = each.do === 'draw' ? BigInt(each.cents) : before.cents
            const done = await draw(number, each.do === 'draw' && each.old ? older : newest, money(cents))
            if (done === undefined) drawn += cents
            assert.equal((await isSound(number)).cents, before.cents - (done === undefined ? cents : 0n))
          } else if (each.do === 'refund') {
            const cents = BigInt(each.cents)
            // More than was drawn is a fault of whoever asks for it.
            if (cents > 0n && cents <= drawn) {
              await refund(number, money(cents))
              drawn -= cents
            } else await assert.rejects(refund(number, money(cents)), /no more goes back/)
          } else if (each.do === 'lapse')
            await api.db.run(
              sql`update voucher set locked_until = now() - interval '1 s' where ${here} and state = 'locked'`,
            )
          else if (each.do === 'age')
            await api.db.run(
              sql`update voucher set validated_until = now() where ${here} and validation_hash is not null`,
            )
          else if (each.do === 'last day')
            await api.db.run(sql`update voucher set expiry_date = '2020-01-01' where ${here}`)
          else await decideOnVoucher(api.db, api.service, number, each.do)
          const after = await isSound(number)
          const shown = await readVoucher(api.db, api.service, number)
          if (shown?.status === 'active' || shown?.status === 'locked')
            assert.equal(shown.availableAmount, money(after.cents))
          else assert.equal(shown?.availableAmount, '0.00')
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('a draw takes a validation once, from the voucher that it was made for', async () => {
  const number = await voucher()
  const id = String(await validate(number))
  assert.equal(await draw(await voucher(), id, '1.00'), 'validation_id_incorrect')
  assert.equal(await draw('nope', id, '1.00'), 'validation_id_incorrect')
  assert.equal(await draw(number, id, '150.01'), 'insufficient_voucher_balance')
  assert.equal(await draw(number, id, '100.10'), undefined)
  assert.equal(await draw(number, id, '1.00'), 'validation_id_incorrect')
  assert.equal(await draw(number, String(await validate(number)), '49.90'), undefined)
  assert.equal((await isSound(number)).state, 'redeemed')
  assert.deepEqual(await stepsOf(api, api, number), [
    ...['issue active', 'lock locked', 'redeem active'],
    ...['lock locked', 'redeem redeemed'],
  ])
  assert.equal(await validate(number), 'voucher_unusable')
})

test('a draw ends the lock that its validation held, and a stale holder cannot draw', async () => {
  const number = await voucher()
  const mine = String(await validate(number))
  await hold(number, mine, 3_600)
  assert.equal(await draw(number, mine, '10.00'), undefined)
  const theirs = String(await validate(number))
  await hold(number, theirs, 3_600)
  assert.equal(await draw(number, mine, '10.00'), 'voucher_locked')
  await api.db.run(
    sql`update voucher set locked_until = now() where service_id = ${api.service.id} and number = ${number}`,
  )
  assert.equal(await draw(number, mine, '10.00'), 'validation_id_incorrect')
  assert.equal(await draw(number, theirs, '10.00'), undefined, 'its lock has run out, and nobody else has validated')
  assert.equal((await isSound(number)).cents, 13_000n)
})

test('what stands against a draw points to the voucher in the order', async () => {
  const number = await voucher({ state: 'suspended' })
  const shop = { ...api.service, settings: { ...api.service.settings, voucherInFull: true } }
  const faultOf = (draw: { number: string; validationId: string }, service = api.service) =>
    assert.rejects(
      api.db.transaction(tx =>
        drawVoucher(tx, api.keys, service, {
          ...draw,
          amount: '1.00',
          orderNumber: 'W1',
          pointer: '/payments/2/voucher',
        }),
      ),
      (error: ApiError) => {
        assert.deepEqual(
          error.faults.map(({ pointer, code }) => [pointer, code]),
          [['/payments/2/voucher', error.code]],
        )
        return true
      },
    )
  await faultOf({ number, validationId: 'x' })
  const whole = await voucher()
  const validationId = String(await validate(whole))
  await faultOf({ number: whole, validationId }, shop)
})

test('one validation is drawn once, however many use it at once', async () => {
  const number = await voucher()
  const id = String(await validate(number))
  const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => draw(number, id, '10.00', `W${i}`)))
  assert.equal(outcomes.filter(each => each === undefined).length, 1)
  assert.equal(outcomes.filter(each => each === 'validation_id_incorrect').length, 49)
  assert.equal((await isSound(number)).cents, 14_000n)
})

test('of 200 redemptions at once as many go through as the voucher has, and the sum is exact', async () => {
  const number = await voucher()
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      outcome(async tx => {
        const validationId = await validateVoucher(tx, api.keys, api.service, { number, amount: '1.10' })
        if (validationId instanceof ApiError) return validationId
        const draw = { number, validationId, amount: '1.10', orderNumber: `W${i}`, pointer: '' }
        return drawVoucher(tx, api.keys, api.service, draw)
      }),
    ),
  )
  assert.equal(outcomes.filter(each => each === undefined).length, 136)
  assert.equal(outcomes.filter(each => each === 'insufficient_voucher_balance').length, 64)
  assert.deepEqual(await isSound(number), { state: 'active', cents: 40n })
})

test('a refund opens a spent voucher again, and never gives back more than the order drew', async () => {
  const number = await voucher()
  await draw(number, String(await validate(number)), '100.00', 'W1')
  await draw(number, String(await validate(number)), '50.00', 'W2')
  assert.equal((await isSound(number)).state, 'redeemed')
  await assert.rejects(refund(number, '50.01', 'W2'), /no more goes back/)
  await refund(number, '20.00', 'W2')
  await assert.rejects(refund(number, '30.01', 'W2'), /no more goes back/)
  await assert.rejects(refund(number, '1.00', 'W3'), /no more goes back/)
  assert.deepEqual(await isSound(number), { state: 'active', cents: 2_000n })
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => refund(number, '15.00', 'W2')))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
  assert.equal((await isSound(number)).cents, 5_000n)
})

test('the daily job writes down which vouchers are past their last day, except those that are held', async () => {
  const tenant = await api.tenant({ ...voucherSettings, timeZone: 'Pacific/Kiritimati' })
  const west = await api.tenant({ ...voucherSettings, timeZone: 'Pacific/Pago_Pago' })
  const day = (zone: string) => Temporal.Now.plainDateISO(zone).toString()
  const past = { expiryDate: '2020-01-01' }
  await addVouchers(api, api, { past, 'past spent': { ...past, usedAmount: '150.00', state: 'redeemed' }, held: past })
  // A day that is today in the east of the date line's zones is not over there, and has not begun in the west.
  const east = day('Pacific/Kiritimati')
  await addVouchers(api, tenant, {
    today: { expiryDate: east },
    yesterday: { expiryDate: Temporal.PlainDate.from(east).subtract({ days: 1 }).toString() },
  })
  await addVouchers(api, west, {
    yesterday: { expiryDate: Temporal.PlainDate.from(east).subtract({ days: 1 }).toString() },
  })
  await api.db.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until) values (${api.service.id}, 'held', 2, 'lock', 0, 'locked', now() + interval '1 minute')`)
  await expireVouchers(api.db)
  const state = async (of: TestService | typeof tenant, number: string) =>
    (await stepsOf(api, of, number)).at(-1)?.split(' ')[1]
  assert.deepEqual(
    [await state(api, 'past'), await state(api, 'past spent'), await state(api, 'held')],
    ['expired', 'redeemed', 'locked'],
  )
  assert.deepEqual([await state(tenant, 'today'), await state(tenant, 'yesterday')], ['active', 'expired'])
  assert.equal(await state(west, 'yesterday'), 'active')
  assert.equal(await expireVouchers(api.db), 0)
  assert.deepEqual(
    await api.db.row(
      sql`select balance::text, state from voucher where service_id = ${api.service.id} and number = 'past'`,
    ),
    { balance: '150.0000', state: 'expired' },
    'what it had is not written off',
  )
})

test('the ledger can neither be changed nor shortened, and holds no balance below zero or above the beginning', async () => {
  const number = await voucher()
  const here = sql`service_id = ${api.service.id} and number = ${number}`
  await assert.rejects(api.db.run(sql`update voucher_entry set amount = 999 where ${here}`), /append-only/)
  await assert.rejects(api.db.run(sql`delete from voucher_entry where ${here}`), /append-only/)
  const enter = (kind: string, amount: string, state = 'active') =>
    api.db.run(sql`
      insert into voucher_entry (service_id, number, entry, kind, amount, state) values (${api.service.id}, ${number}, 2, ${kind}, ${amount}, ${state})`)
  await assert.rejects(enter('redeem', '-150.01'), /voucher_balance_check/)
  await assert.rejects(enter('refund', '0.01'), /voucher_within_original/)
  for (const [kind, amount] of [
    ['redeem', '1.00'],
    ['refund', '-1.00'],
    ['lock', '1.00'],
    ['expire', '-1.00'],
  ] as const)
    await assert.rejects(enter(kind, amount), /voucher_entry_amount/)
  await assert.rejects(enter('lock', '0', 'locked'), /voucher_entry_locked/)
  await assert.rejects(enter('bonus', '0'), /voucher_entry_(kind|amount)/)
})
