import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decideOnVoucher, expireVouchers } from '../../../src/backoffice/embedded/vouchers/decisions.ts'
import { sql } from '../../../src/database/db.ts'
import { getNextState, voucherActions, voucherStates } from '../../../src/domain/vouchers/states.ts'
import { readVoucher } from '../../../src/store/vouchers/vouchers.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import { addVouchers, listLedgerSteps, newVoucher, voucherSettings } from '../../support/voucher-shop.ts'
import { allowedStates, createVoucherOperations } from './ledger.ts'

const api = await startTestApi({ settings: voucherSettings })
after(() => api.stop())

const { validate, draw, lock, refund, assertSound } = createVoucherOperations(api)

test('the state table matches the documentation', () => {
  for (const from of voucherStates)
    for (const step of voucherActions)
      for (const remaining of [0n, 1n]) {
        const to = getNextState(from, step, remaining)
        if (to !== undefined && to !== from) assert.ok(allowedStates[from]?.includes(to), `${from} -${step}-> ${to}`)
        // Only a refund or added money reopens a redeemed voucher.
        if (from === 'redeemed' && to !== undefined) assert.ok(step === 'refund' || step === 'load', step)
      }
  for (const [from, states] of Object.entries(allowedStates))
    for (const to of states)
      assert.ok(
        voucherActions.some(step => [0n, 1n].some(remaining => getNextState(from as 'active', step, remaining) === to)),
        `${from} -> ${to}`,
      )
})

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
const toAmount = (cents: number | bigint) => `${BigInt(cents) / 100n}.${String(BigInt(cents) % 100n).padStart(2, '0')}`

test('any operations follow the state table and the ledger equals the balance', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 1, maxLength: 25 }),
      fc.boolean(),
      async (operations, isPending) => {
        const number = await newVoucher(api, isPending ? { state: 'pending' } : {})
        const isVoucher = sql`service_id = ${api.service.id} and number = ${number}`
        let [newest, older] = ['none', 'none']
        let drawn = 0n
        for (const performed of operations) {
          const before = await assertSound(number)
          if (performed.do === 'validate') {
            const id = await validate(number, '0.01')
            if (typeof id === 'string' && id.length === 32) [newest, older] = [id, newest]
          } else if (performed.do === 'lock') await lock(number, performed.old ? older : newest, performed.seconds)
          else if (performed.do === 'draw' || performed.do === 'draw all') {
            const cents = performed.do === 'draw' ? BigInt(performed.cents) : before.cents
            const errorCode = await draw(
              number,
              performed.do === 'draw' && performed.old ? older : newest,
              toAmount(cents),
            )
            if (errorCode === undefined) drawn += cents
            assert.equal((await assertSound(number)).cents, before.cents - (errorCode === undefined ? cents : 0n))
          } else if (performed.do === 'refund') {
            const cents = BigInt(performed.cents)
            const refunded = await refund(number, cents)
            assert.equal(refunded, cents < drawn ? cents : drawn)
            drawn -= refunded
          } else if (performed.do === 'lapse')
            await api.db.run(
              sql`update voucher set locked_until = now() - interval '1 s' where ${isVoucher} and state = 'locked'`,
            )
          else if (performed.do === 'age')
            await api.db.run(
              sql`update voucher set validated_until = now() where ${isVoucher} and validation_hash is not null`,
            )
          else if (performed.do === 'last day')
            await api.db.run(sql`update voucher set expiry_date = '2020-01-01' where ${isVoucher}`)
          else {
            const decision = performed.do
            await api.db.transaction(tx => decideOnVoucher(tx, api.service, number, decision))
          }
          const voucher = await assertSound(number)
          const lookedUp = await readVoucher(api.db, api.service, number)
          if (lookedUp?.status === 'active' || lookedUp?.status === 'locked')
            assert.equal(lookedUp.availableAmount, toAmount(voucher.cents))
          else assert.equal(lookedUp?.availableAmount, '0.00')
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('the daily job records expired vouchers except locked ones', async () => {
  const caller = await api.createService({ ...voucherSettings, timeZone: 'Pacific/Kiritimati' })
  const west = await api.createService({ ...voucherSettings, timeZone: 'Pacific/Pago_Pago' })
  const getToday = (zone: string) => Temporal.Now.plainDateISO(zone).toString()
  const past = { expiryDate: '2020-01-01' }
  await addVouchers(api, api, { past, 'past spent': { ...past, usedAmount: '150.00', state: 'redeemed' }, held: past })
  // The current day of the easternmost zone isn't over there, and hasn't begun in the westernmost zone.
  const east = getToday('Pacific/Kiritimati')
  await addVouchers(api, caller, {
    today: { expiryDate: east },
    yesterday: { expiryDate: Temporal.PlainDate.from(east).subtract({ days: 1 }).toString() },
  })
  await addVouchers(api, west, {
    yesterday: { expiryDate: Temporal.PlainDate.from(east).subtract({ days: 1 }).toString() },
  })
  await api.db.run(sql`
    insert into voucher_entry (service_id, number, entry, kind, amount, state, locked_until) values (${api.service.id}, 'held', 2, 'lock', 0, 'locked', now() + interval '1 minute')`)
  await expireVouchers(api.db)
  const getState = async (owner: TestApi | typeof caller, number: string) =>
    (await listLedgerSteps(api, owner, number)).at(-1)?.split(' ')[1]
  assert.deepEqual(
    [await getState(api, 'past'), await getState(api, 'past spent'), await getState(api, 'held')],
    ['expired', 'redeemed', 'locked'],
  )
  assert.deepEqual([await getState(caller, 'today'), await getState(caller, 'yesterday')], ['active', 'expired'])
  assert.equal(await getState(west, 'yesterday'), 'active')
  assert.equal(await expireVouchers(api.db), 0)
  assert.deepEqual(
    await api.db.row(
      sql`select balance::text, state from voucher where service_id = ${api.service.id} and number = 'past'`,
    ),
    { balance: '150.0000', state: 'expired' },
    'the balance must be kept',
  )
})

test('the ledger is append-only and its balances stay within bounds', async () => {
  const number = await newVoucher(api)
  const isVoucher = sql`service_id = ${api.service.id} and number = ${number}`
  await assert.rejects(api.db.run(sql`update voucher_entry set amount = 999 where ${isVoucher}`), /append-only/)
  await assert.rejects(api.db.run(sql`delete from voucher_entry where ${isVoucher}`), /append-only/)
  const addEntry = (kind: string, amount: string, state = 'active') =>
    api.db.run(sql`
      insert into voucher_entry (service_id, number, entry, kind, amount, state) values (${api.service.id}, ${number}, 2, ${kind}, ${amount}, ${state})`)
  await assert.rejects(addEntry('redeem', '-150.01'), /voucher_balance_check/)
  await assert.rejects(addEntry('refund', '0.01'), /voucher_within_original/)
  for (const [kind, amount] of [
    ['redeem', '1.00'],
    ['refund', '-1.00'],
    ['lock', '1.00'],
    ['expire', '-1.00'],
  ] as const)
    await assert.rejects(addEntry(kind, amount), /voucher_entry_amount/)
  await assert.rejects(addEntry('lock', '0', 'locked'), /voucher_entry_locked/)
  await assert.rejects(addEntry('bonus', '0'), /voucher_entry_(kind|amount)/)
})
