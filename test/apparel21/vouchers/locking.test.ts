import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { askerOf } from '../../../simulator/ask.ts'
import { recordRedemption, requireDrawableValidation } from '../../../src/backoffice/apparel21/operations/vouchers.ts'
import { raw, sql } from '../../../src/database/db.ts'
import { ApiError, type ErrorCode } from '../../../src/errors/api-error.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { purgeExpired } from '../../../src/jobs/purge-expired.ts'
import { endUpstreamValidation } from '../../../src/store/vouchers/upstream.ts'
import { settings } from '../../drivers/apparel21.ts'
import { assertProblem } from '../../support/problem.ts'
import { getRejection, lockVoucher } from '../../support/voucher-shop.ts'
import { lookUp, number, pin, validate, validationOf, validations, vouchersOfTests } from './vouchers.ts'

const { simulator, api, voucherOf, secondServer } = await vouchersOfTests()
const { second, other } = await secondServer()
const backDate = () =>
  api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 ms' where number = ${number}`)

test('a locked voucher causes no back office validation for other clients', async () => {
  const ownValidationId = await validationOf(api)
  assert.doesNotMatch(ownValidationId, /^[0-9a-f]{8}-/, 'not the id of the back office')
  const locked = await lockVoucher(api, number, ownValidationId, 600)
  assert.equal(locked.status, 200)
  assert.deepEqual(
    [locked.json.data.status, locked.json.data.availableAmount, locked.json.data.originalAmount],
    ['locked', '100.00', '100.00'],
  )
  assert.equal(validations(simulator), 1)
  for (const by of [other, api]) {
    const rejected = await validate(by)
    assertProblem(rejected, 'voucher_locked', by === api ? api.baseUrl : second.baseUrl, '/vouchers/validate')
    assert.equal(rejected.json.lockedUntil, locked.json.data.lockedUntil)
    assert.doesNotMatch(rejected.text, new RegExp(api.username))
  }
  assertProblem(await lookUp(other, number, '9999'), 'voucher_not_accepted', second.baseUrl)
  const seen = (await lookUp(other)).json.data
  assert.deepEqual([seen.status, seen.lockedUntil], ['locked', locked.json.data.lockedUntil])
  assert.equal(validations(simulator), 1)
  assert.equal(
    (await lockVoucher(other, number, ownValidationId, 700)).status,
    200,
    'the validation is what holds, at any server',
  )
  assert.equal((await lockVoucher(api, number, ownValidationId, 0)).json.data.status, 'active')
  assert.ok(voucherOf(number).lockedUntil <= simulator.clock.now())
  const otherValidationId = await validationOf(other)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(other, number, otherValidationId)).status, 200)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'voucher_locked', api.baseUrl)
})

test('two of 20 clients on two servers never hold one voucher', async () => {
  const locked: { from: number; to: number }[] = []
  const seen = new Map<string, number>()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const me = i % 2 ? api : other
      for (let n = 0; n < 5; n++) {
        await delay(Math.random() * 300)
        const validated = await validate(me)
        const response =
          validated.status === 200 ? await lockVoucher(me, number, validated.json.data.validationId) : validated
        const outcome = String(response.json.code ?? response.status)
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
        if (response.status !== 200) continue
        const from = performance.now()
        await lookUp(me)
        const to = performance.now()
        assert.equal((await lockVoucher(me, number, validated.json.data.validationId, 0)).status, 200)
        locked.push({ from, to })
      }
    }),
  )
  const counts = JSON.stringify(Object.fromEntries(seen))
  for (const outcome of seen.keys()) assert.match(outcome, /^(200|voucher_locked|validation_id_incorrect)$/, counts)
  assert.ok(locked.length >= 3 && (seen.get('voucher_locked') ?? 0) > 0, counts)
  locked.sort((a, b) => a.from - b.from)
  for (const [i, { from }] of locked.entries()) assert.ok(i === 0 || from >= (locked[i - 1]?.to ?? 0), 'two at a time')
  let isLeased = false
  for (const { kind } of simulator.ledger.effects) {
    if (kind === 'voucher locked') isLeased = true
    if (kind === 'voucher unlocked') isLeased = false
    assert.ok(!(isLeased && kind === 'voucher validated'))
  }
  assert.equal(simulator.ledger.callsTo({ path: '/Voucher/GVValid/*', status: 403 }).length, 0, 'nor was it tried')
})

test('clients with the current validation can renew; older validations cannot lock', async () => {
  const older = await validationOf(api)
  const newest = await validationOf(other)
  const responses = await Promise.all(
    [older, newest, older, newest, older].map((id, i) => lockVoucher(i % 2 ? other : api, number, id)),
  )
  assert.deepEqual(
    responses.map(({ status }) => status === 200),
    [false, true, false, true, false],
  )
})

test('a validation ended by a till is invalid until the next one', async () => {
  const ownValidationId = await validationOf(api)
  const till = askerOf(() => simulator.url)
  assert.equal((await till(`Voucher/GVValid/${number}?pin=${pin}&amount=1`)).status, 200)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  const tried = simulator.ledger.callsTo({ path: '/Voucher/Lock/*' }).length
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal(simulator.ledger.callsTo({ path: '/Voucher/Lock/*' }).length, tried, 'it is not tried again')
  assert.equal((await lockVoucher(api, number, await validationOf(api))).status, 200)
})

test('a lock expires by the database clock and its holder is rejected', async () => {
  const ownValidationId = await validationOf(api)
  await lockVoucher(api, number, ownValidationId, 60)
  simulator.clock.advance(61)
  assertProblem(await validate(other), 'voucher_locked', second.baseUrl)
  await backDate()
  assert.equal((await lookUp(api)).json.data.status, 'active')
  const otherValidationId = await validationOf(other)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(other, number, otherValidationId)).status, 200)
  assertProblem(await lockVoucher(api, number, ownValidationId, 0), 'voucher_locked', api.baseUrl)
})

test('a validation expires after 24 hours; its lock can be released later', async () => {
  const age = () => api.db.run(sql`update upstream_voucher set validated_until = now() where number = ${number}`)
  const first = await validationOf(api)
  await age()
  assertProblem(await lockVoucher(api, number, first), 'validation_id_incorrect', api.baseUrl)
  const ownValidationId = await validationOf(api)
  await lockVoucher(api, number, ownValidationId, 86_400)
  await age()
  assertProblem(await lockVoucher(api, number, ownValidationId, 60), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(api, number, ownValidationId, 0)).status, 200)
})

test('the hourly job purges finished vouchers but never usable ones', async () => {
  const countVouchers = async () =>
    (await api.db.rows<{ number: string }>(sql`select number from upstream_voucher order by 1`)).length
  const job = () => purgeExpired({ db: api.db, signal: new AbortController().signal } as JobRun)
  const week = (column: 'validated_until' | 'locked_until', more: string) =>
    api.db.run(
      sql`update upstream_voucher set ${raw(column)} = now() - interval '7 days' + ${more}::interval where number = ${number}`,
    )
  const ownValidationId = await validationOf(api)
  await job()
  assert.equal((await lockVoucher(api, number, ownValidationId, 60)).status, 200, 'a validation that counts')
  await week('validated_until', '-1 s')
  await job()
  assert.equal(await countVouchers(), 1, 'a lock that holds')
  await week('locked_until', '1 minute')
  await job()
  assert.equal(await countVouchers(), 1, 'one of this week')
  await week('locked_until', '-1 s')
  await job()
  assert.equal(await countVouchers(), 0)
  simulator.clock.advance(61)
  const next = await validationOf(api)
  assert.equal(
    (await lockVoucher(api, number, next, 0)).status,
    200,
    'a voucher that was forgotten is as good as before',
  )
  await api.db.transaction(tx => endUpstreamValidation(tx, api.service, number))
  await job()
  assert.equal(await countVouchers(), 0, 'one that is spent')
})

test('validation IDs are unguessable and bound to one voucher and service', async () => {
  const ownValidationId = await validationOf(api)
  const wrong = getRejection(
    await lockVoucher(api, number, `${ownValidationId.slice(0, -1)}${ownValidationId.endsWith('A') ? 'B' : 'A'}`),
  )
  assert.equal(wrong.code, 'validation_id_incorrect')
  const { validationId } = voucherOf(number)
  const caller = await api.createService(settings)
  assert.deepEqual(getRejection(await lockVoucher(api, number, validationId)), wrong, 'the id of the back office')
  assert.deepEqual(getRejection(await lockVoucher(api, '6000002', ownValidationId)), wrong)
  assert.deepEqual(getRejection(await lockVoucher(caller, number, ownValidationId)), wrong)
  const codes: string[] = []
  for (let i = 0; i < 40; i++) codes.push((await lockVoucher(api, number, `guess${i}`)).json.code)
  assert.ok(codes.includes('too_many_failures'))
  assert.equal(simulator.ledger.callsTo({ path: '/Voucher/Lock/*' }).length, 0)
})

test('a lock with a lost response has an unknown outcome until repeated', async () => {
  const ownValidationId = await validationOf(api)
  simulator.faults.add({ kind: 'lost-answer', path: '/Voucher/Lock/*', times: 1 })
  assertProblem(await lockVoucher(api, number, ownValidationId), 'outcome_unknown', api.baseUrl)
  const blind = await validate(other)
  assert.deepEqual([blind.status, blind.json.code], [409, 'voucher_locked'])
  assert.equal((await lockVoucher(api, number, ownValidationId)).status, 200)
  assert.equal(voucherOf(number).lockedUntil > simulator.clock.now(), true)
})

/** Draws as an order does that then is, or is not, placed. */
const draw = (validationId: string, amount: string, { isPlaced = true, of = number } = {}) =>
  api.db
    .transaction(async tx => {
      const pointer = '/payments/0/voucher'
      const payment = { number: of, validationId, amount, pointer }
      const id = await requireDrawableValidation(tx, api.keys, api.service, payment)
      await recordRedemption(tx, api.keys, api.service, payment)
      if (!isPlaced) throw new Undone(id)
      return id
    })
    .catch(error => {
      if (error instanceof Undone) return error.message
      throw error
    })
class Undone extends Error {}

test("a draw sends the back office's validation ID once", async () => {
  const ownValidationId = await validationOf(api)
  await lockVoucher(api, number, ownValidationId)
  assert.equal(await draw(ownValidationId, '30.00', { isPlaced: false }), voucherOf(number).validationId)
  assert.equal((await lookUp(api)).json.data.status, 'locked', 'an order that fails spends nothing')
  assert.equal(await draw(ownValidationId, '30.00'), voucherOf(number).validationId)
  assert.equal((await lookUp(api)).json.data.status, 'active', 'the lock is spent with it')
  await rejects(draw(ownValidationId, '30.00'), 'validation_id_incorrect')
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
})

test('a draw is rejected for the same reasons as when embedded', async () => {
  await rejects(draw('x', '1.00'), 'validation_id_incorrect')
  const older = await validationOf(api)
  const ownValidationId = await validationOf(other)
  await rejects(draw(older, '1.00'), 'validation_id_incorrect')
  await lockVoucher(other, number, ownValidationId)
  await rejects(draw(older, '1.00'), 'voucher_locked')
  await rejects(draw(ownValidationId, '100.01'), 'insufficient_voucher_balance')
  await rejects(draw(ownValidationId, '0.00'), 'invalid_field')
  await rejects(draw(ownValidationId, '1.00', { of: '6000002' }), 'validation_id_incorrect')
  assert.equal(await draw(ownValidationId, '100.00'), voucherOf(number).validationId)
})

test('one of several concurrent draws with one validation succeeds', async () => {
  const ownValidationId = await validationOf(api)
  const drawn = await Promise.allSettled(Array.from({ length: 8 }, () => draw(ownValidationId, '10.00')))
  assert.equal(drawn.filter(({ status }) => status === 'fulfilled').length, 1)
})

async function rejects(work: Promise<unknown>, code: ErrorCode) {
  const error = await work.then(
    () => undefined,
    fault => fault,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code)
  for (const { pointer } of error.errors) assert.equal(pointer, '/payments/0/voucher')
  assert.ok(error.errors.length)
}
