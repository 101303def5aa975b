import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createSender } from '../../../simulator/send.ts'
import { recordRedemption, requireDrawableValidation } from '../../../src/backoffice/apparel21/operations/vouchers.ts'
import { raw, sql } from '../../../src/database/db.ts'
import { ApiError, type ErrorCode } from '../../../src/errors/api-error.ts'
import type { JobRun } from '../../../src/jobs/job.ts'
import { purgeExpired } from '../../../src/jobs/purge-expired.ts'
import { endUpstreamValidation } from '../../../src/store/vouchers/upstream.ts'
import { settings } from '../../drivers/apparel21.ts'
import { assertProblem } from '../../support/problem.ts'
import { getRejection, lockVoucher } from '../../support/voucher-shop.ts'
import { countValidations, getValidationId, lookUp, number, pin, startVoucherFixture, validate } from './vouchers.ts'

const { simulator, api, findVoucher, startSecondServer } = await startVoucherFixture()
const { second, other } = await startSecondServer()
const backDate = () =>
  api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 ms' where number = ${number}`)

test('a locked voucher causes no back office validation for other clients', async () => {
  const ownValidationId = await getValidationId(api)
  assert.doesNotMatch(ownValidationId, /^[0-9a-f]{8}-/, "the ID must not be the back office's")
  const locked = await lockVoucher(api, number, ownValidationId, 600)
  assert.equal(locked.status, 200)
  assert.deepEqual(
    [locked.json.data.status, locked.json.data.availableAmount, locked.json.data.originalAmount],
    ['locked', '100.00', '100.00'],
  )
  assert.equal(countValidations(simulator), 1)
  for (const caller of [other, api]) {
    const rejected = await validate(caller)
    assertProblem(rejected, 'voucher_locked', caller === api ? api.baseUrl : second.baseUrl, '/vouchers/validate')
    assert.equal(rejected.json.lockedUntil, locked.json.data.lockedUntil)
    assert.doesNotMatch(rejected.text, new RegExp(api.username))
  }
  assertProblem(await lookUp(other, number, '9999'), 'voucher_not_accepted', second.baseUrl)
  const outcomeCounts = (await lookUp(other)).json.data
  assert.deepEqual([outcomeCounts.status, outcomeCounts.lockedUntil], ['locked', locked.json.data.lockedUntil])
  assert.equal(countValidations(simulator), 1)
  assert.equal(
    (await lockVoucher(other, number, ownValidationId, 700)).status,
    200,
    'a validation can renew its lock on any server',
  )
  assert.equal((await lockVoucher(api, number, ownValidationId, 0)).json.data.status, 'active')
  assert.ok(findVoucher(number).lockedUntil <= simulator.clock.now())
  const otherValidationId = await getValidationId(other)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(other, number, otherValidationId)).status, 200)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'voucher_locked', api.baseUrl)
})

test('two of 20 clients on two servers never hold one voucher', async () => {
  const locked: { from: number; to: number }[] = []
  const outcomeCounts = new Map<string, number>()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const caller = i % 2 ? api : other
      for (let n = 0; n < 5; n++) {
        await delay(Math.random() * 300)
        const validated = await validate(caller)
        const response =
          validated.status === 200 ? await lockVoucher(caller, number, validated.json.data.validationId) : validated
        const outcome = String(response.json.code ?? response.status)
        outcomeCounts.set(outcome, (outcomeCounts.get(outcome) ?? 0) + 1)
        if (response.status !== 200) continue
        const from = performance.now()
        await lookUp(caller)
        const to = performance.now()
        assert.equal((await lockVoucher(caller, number, validated.json.data.validationId, 0)).status, 200)
        locked.push({ from, to })
      }
    }),
  )
  const counts = JSON.stringify(Object.fromEntries(outcomeCounts))
  for (const outcome of outcomeCounts.keys())
    assert.match(outcome, /^(200|voucher_locked|validation_id_incorrect)$/, counts)
  assert.ok(locked.length >= 3 && (outcomeCounts.get('voucher_locked') ?? 0) > 0, counts)
  locked.sort((a, b) => a.from - b.from)
  for (const [i, { from }] of locked.entries())
    assert.ok(i === 0 || from >= (locked[i - 1]?.to ?? 0), 'two clients held the voucher at once')
  let isLeased = false
  for (const { kind } of simulator.ledger.effects) {
    if (kind === 'voucher locked') isLeased = true
    if (kind === 'voucher unlocked') isLeased = false
    assert.ok(!(isLeased && kind === 'voucher validated'))
  }
  assert.equal(
    simulator.ledger.findCalls({ path: '/Voucher/GVValid/*', status: 403 }).length,
    0,
    'no validation was attempted',
  )
})

test('clients with the current validation can renew; older validations cannot lock', async () => {
  const older = await getValidationId(api)
  const newest = await getValidationId(other)
  const responses = await Promise.all(
    [older, newest, older, newest, older].map((id, i) => lockVoucher(i % 2 ? other : api, number, id)),
  )
  assert.deepEqual(
    responses.map(({ status }) => status === 200),
    [false, true, false, true, false],
  )
})

test('a validation ended by a till is invalid until the next one', async () => {
  const ownValidationId = await getValidationId(api)
  const till = createSender(() => simulator.url)
  assert.equal((await till(`Voucher/GVValid/${number}?pin=${pin}&amount=1`)).status, 200)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  const attemptCount = simulator.ledger.findCalls({ path: '/Voucher/Lock/*' }).length
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal(
    simulator.ledger.findCalls({ path: '/Voucher/Lock/*' }).length,
    attemptCount,
    'the back office is not called again',
  )
  assert.equal((await lockVoucher(api, number, await getValidationId(api))).status, 200)
})

test('a lock expires by the database clock and its holder is rejected', async () => {
  const ownValidationId = await getValidationId(api)
  await lockVoucher(api, number, ownValidationId, 60)
  simulator.clock.advance(61)
  assertProblem(await validate(other), 'voucher_locked', second.baseUrl)
  await backDate()
  assert.equal((await lookUp(api)).json.data.status, 'active')
  const otherValidationId = await getValidationId(other)
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(other, number, otherValidationId)).status, 200)
  assertProblem(await lockVoucher(api, number, ownValidationId, 0), 'voucher_locked', api.baseUrl)
})

test('a validation expires after 24 hours; its lock can be released later', async () => {
  const expireValidation = () =>
    api.db.run(sql`update upstream_voucher set validated_until = now() where number = ${number}`)
  const first = await getValidationId(api)
  await expireValidation()
  assertProblem(await lockVoucher(api, number, first), 'validation_id_incorrect', api.baseUrl)
  const ownValidationId = await getValidationId(api)
  await lockVoucher(api, number, ownValidationId, 86_400)
  await expireValidation()
  assertProblem(await lockVoucher(api, number, ownValidationId, 60), 'validation_id_incorrect', api.baseUrl)
  assert.equal((await lockVoucher(api, number, ownValidationId, 0)).status, 200)
})

test('the hourly job purges finished vouchers but never usable ones', async () => {
  const countVouchers = async () =>
    (await api.db.rows<{ number: string }>(sql`select number from upstream_voucher order by 1`)).length
  const runPurge = () => purgeExpired({ db: api.db, signal: new AbortController().signal } as JobRun)
  const backDateWeek = (column: 'validated_until' | 'locked_until', more: string) =>
    api.db.run(
      sql`update upstream_voucher set ${raw(column)} = now() - interval '7 days' + ${more}::interval where number = ${number}`,
    )
  const ownValidationId = await getValidationId(api)
  await runPurge()
  assert.equal((await lockVoucher(api, number, ownValidationId, 60)).status, 200, 'a current validation stays')
  await backDateWeek('validated_until', '-1 s')
  await runPurge()
  assert.equal(await countVouchers(), 1, 'a locked voucher stays')
  await backDateWeek('locked_until', '1 minute')
  await runPurge()
  assert.equal(await countVouchers(), 1, 'a voucher locked within seven days stays')
  await backDateWeek('locked_until', '-1 s')
  await runPurge()
  assert.equal(await countVouchers(), 0)
  simulator.clock.advance(61)
  const next = await getValidationId(api)
  assert.equal((await lockVoucher(api, number, next, 0)).status, 200, 'a purged voucher can be used again')
  await api.db.transaction(tx => endUpstreamValidation(tx, api.service, number))
  await runPurge()
  assert.equal(await countVouchers(), 0, 'a voucher without a validation is purged')
})

test('validation IDs are unguessable and bound to one voucher and service', async () => {
  const ownValidationId = await getValidationId(api)
  const wrong = getRejection(
    await lockVoucher(api, number, `${ownValidationId.slice(0, -1)}${ownValidationId.endsWith('A') ? 'B' : 'A'}`),
  )
  assert.equal(wrong.code, 'validation_id_incorrect')
  const { validationId } = findVoucher(number)
  const caller = await api.createService(settings)
  assert.deepEqual(
    getRejection(await lockVoucher(api, number, validationId)),
    wrong,
    "the back office's ID is rejected",
  )
  assert.deepEqual(getRejection(await lockVoucher(api, '6000002', ownValidationId)), wrong)
  assert.deepEqual(getRejection(await lockVoucher(caller, number, ownValidationId)), wrong)
  const codes: string[] = []
  for (let i = 0; i < 40; i++) codes.push((await lockVoucher(api, number, `guess${i}`)).json.code)
  assert.ok(codes.includes('too_many_failures'))
  assert.equal(simulator.ledger.findCalls({ path: '/Voucher/Lock/*' }).length, 0)
})

test('a lock with a lost response has an unknown outcome until repeated', async () => {
  const ownValidationId = await getValidationId(api)
  simulator.faults.add({ kind: 'lost-response', path: '/Voucher/Lock/*', times: 1 })
  assertProblem(await lockVoucher(api, number, ownValidationId), 'outcome_unknown', api.baseUrl)
  const otherValidation = await validate(other)
  assert.deepEqual([otherValidation.status, otherValidation.json.code], [409, 'voucher_locked'])
  assert.equal((await lockVoucher(api, number, ownValidationId)).status, 200)
  assert.equal(findVoucher(number).lockedUntil > simulator.clock.now(), true)
})

/** Draws an amount as an order does. The transaction is rolled back if `isPlaced` is false. Returns the back office's validation ID. */
const drawVoucher = (validationId: string, amount: string, { isPlaced = true, voucherNumber = number } = {}) =>
  api.db
    .transaction(async tx => {
      const pointer = '/payments/0/voucher'
      const payment = { number: voucherNumber, validationId, amount, pointer }
      const id = await requireDrawableValidation(tx, api.keys, api.service, payment)
      await recordRedemption(tx, api.keys, api.service, payment)
      if (!isPlaced) throw new RolledBack(id)
      return id
    })
    .catch(error => {
      if (error instanceof RolledBack) return error.message
      throw error
    })
class RolledBack extends Error {}

test("a draw sends the back office's validation ID once", async () => {
  const ownValidationId = await getValidationId(api)
  await lockVoucher(api, number, ownValidationId)
  assert.equal(await drawVoucher(ownValidationId, '30.00', { isPlaced: false }), findVoucher(number).validationId)
  assert.equal((await lookUp(api)).json.data.status, 'locked', 'a failed order draws nothing')
  assert.equal(await drawVoucher(ownValidationId, '30.00'), findVoucher(number).validationId)
  assert.equal((await lookUp(api)).json.data.status, 'active', 'the order ends the lock')
  await assertRejected(drawVoucher(ownValidationId, '30.00'), 'validation_id_incorrect')
  assertProblem(await lockVoucher(api, number, ownValidationId), 'validation_id_incorrect', api.baseUrl)
})

test('a draw is rejected for the same reasons as when embedded', async () => {
  await assertRejected(drawVoucher('x', '1.00'), 'validation_id_incorrect')
  const older = await getValidationId(api)
  const ownValidationId = await getValidationId(other)
  await assertRejected(drawVoucher(older, '1.00'), 'validation_id_incorrect')
  await lockVoucher(other, number, ownValidationId)
  await assertRejected(drawVoucher(older, '1.00'), 'voucher_locked')
  await assertRejected(drawVoucher(ownValidationId, '100.01'), 'insufficient_voucher_balance')
  await assertRejected(drawVoucher(ownValidationId, '0.00'), 'invalid_field')
  await assertRejected(drawVoucher(ownValidationId, '1.00', { voucherNumber: '6000002' }), 'validation_id_incorrect')
  assert.equal(await drawVoucher(ownValidationId, '100.00'), findVoucher(number).validationId)
})

test('one of several concurrent draws with one validation succeeds', async () => {
  const ownValidationId = await getValidationId(api)
  const drawn = await Promise.allSettled(Array.from({ length: 8 }, () => drawVoucher(ownValidationId, '10.00')))
  assert.equal(drawn.filter(({ status }) => status === 'fulfilled').length, 1)
})

async function assertRejected(work: Promise<unknown>, code: ErrorCode) {
  const error = await work.then(
    () => undefined,
    fault => fault,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code)
  for (const { pointer } of error.errors) assert.equal(pointer, '/payments/0/voucher')
  assert.ok(error.errors.length)
}
