import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { raw, sql } from '../../../src/database/db.ts'
import { reserveNames } from '../../../src/store/writes/intents.ts'
import { assertProblem } from '../../support/problem.ts'
import { lockVoucher } from '../../support/voucher-shop.ts'
import { post, put, withKey } from '../../support/write.ts'
import { count, shopOfTests } from '../shop.ts'
import { ordersOf } from './orders.ts'

const shop = await shopOfTests()
const { api, simulator } = shop
const { tee, customerId, order, placed, rows, validated, voucher } = await ordersOf(shop)
const { number, pin } = voucher('6000001')

beforeEach(async () => {
  for (const table of ['upstream_voucher', 'intent', 'reservation']) await api.db.run(sql`delete from ${raw(table)}`)
  voucher(number).lockedUntil = 0
})
const open = async () => [await count(api, api, 'intent'), await count(api, api, 'reservation')]
const slow = (path: string, seconds: number, method?: string) =>
  simulator.faults.add({ kind: 'latency', path, seconds, applied: true, times: 1, ...(method && { method }) })
const loseResponse = (path: string, method: string) =>
  simulator.faults.add({ kind: 'lost-answer', method, path, times: 1 })
/** Waits until the simulator has had so many calls. */
async function waitForCalls(path: string, times = 1) {
  while (simulator.ledger.callsTo({ path }).length < times) await new Promise(resolve => setTimeout(resolve, 10))
}
/** Expires reservations, as if their owner had taken too long. */
const holdsRunOut = () => api.db.run(sql`update reservation set reserved_until = now() - interval '1 s'`)
const read = () => api.request(`/vouchers/${number}?amount=5.00`, { headers: { 'x-voucher-pin': pin } })

for (const [how, late] of Object.entries({
  'POST /vouchers/validate': () => post(api, '/vouchers/validate', { number, pin, amount: '5.00' }),
  'GET /vouchers/{number}': read,
  'PUT /vouchers/{number}/lock': () => put(api, `/vouchers/${number}/lock`, { pin, lockSeconds: 60 }),
}))
  test(`a late validation does not end the new holder's lock: ${how}`, async () => {
    slow('/Voucher/GVValid/*', 1.5)
    const coming = late()
    await waitForCalls('/Voucher/GVValid/*')
    await holdsRunOut()
    const { validationId } = await validated(number, pin, '7.00')
    assert.equal((await lockVoucher(api, number, validationId, 600)).status, 200)
    const { status, json } = await coming
    assert.ok(status === 409 || status === 504, json.code)
    assert.equal((await lockVoucher(api, number, validationId, 600)).status, 200, 'the holder renews')
    for (let i = 0; i < 2; i++) await shop.followUp()
    assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200, 'and gives it back')
    assert.deepEqual(await open(), [0, 0])
  })

test("a late rejected lock does not end the new holder's lock", async () => {
  const ownValidationId = (await validated(number, pin, '5.00')).validationId
  simulator.faults.add({ kind: 'latency', path: '/Voucher/Lock/*', seconds: 1.5, times: 1 })
  const coming = lockVoucher(api, number, ownValidationId, 1)
  await waitForCalls('/Voucher/Lock/*')
  await holdsRunOut()
  await api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 ms'`)
  const { validationId } = await validated(number, pin, '7.00')
  assert.equal((await lockVoucher(api, number, validationId, 600)).status, 200)
  assertProblem(await coming, 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200, 'it is still held')
})

test('reconciling a lock neither locks nor validates', async () => {
  const { validationId } = await validated(number, pin, '5.00')
  loseResponse('/Voucher/Lock/*', 'PUT')
  assertProblem(await lockVoucher(api, number, validationId, 600), 'outcome_unknown', api.baseUrl)
  assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200)
  loseResponse('/Voucher/Lock/*', 'PUT')
  assertProblem(await put(api, `/vouchers/${number}/lock`, { pin, lockSeconds: 600 }), 'outcome_unknown', api.baseUrl)
  await api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 ms'`)
  simulator.clock.advance(601)
  const next = await validated(number, pin, '7.00')
  simulator.ledger.clear()
  for (let i = 0; i < 2; i++) await shop.followUp()
  assert.deepEqual([simulator.ledger.calls.length, await open()], [0, [0, 0]])
  const seen = await post(api, '/vouchers/lookup', { number, pin })
  assert.equal(seen.json.data.status, 'active')
  assert.equal((await lockVoucher(api, number, next.validationId, 0)).status, 200, 'the newest validation still counts')
})

test('a repeat during an outage keeps an earlier open attempt', async () => {
  const payment = await validated(number, pin, tee.price)
  const body = order({ payments: [{ gateway: 'paypal', amount: tee.price, voucher: payment }] })
  const [key, before] = [withKey(), await rows()]
  loseResponse('/Persons/*/Orders', 'POST')
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 0, method: 'POST' })
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 0, method: 'GET' })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual(await open(), [1, 2])
  simulator.faults.clear()
  await shop.followUp()
  assert.deepEqual([placed(), await rows(), await open()], [1, before + 1, [0, 0]])
})

test('a repeat with a lost response is reconciled like a first attempt', async () => {
  const [body, key, before] = [order(), withKey(), await rows()]
  const lose = () => simulator.faults.add({ kind: 'reset-before', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  lose()
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  lose()
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.deepEqual(await open(), [1, 1], 'it may still arrive')
  await shop.followUp()
  assert.deepEqual([placed(), await rows(), await open()], [0, before, [0, 0]])
})

test('a write whose record is locked is not reconciled as never executed', async () => {
  loseResponse('/Persons/*', 'PUT')
  assertProblem(await put(api, `/customers/${customerId}`, { title: 'Dr' }), 'outcome_unknown', api.baseUrl)
  const names = [`customer ${customerId}`]
  await reserveNames(api.db, api.keys, api.service, randomUUID(), { names, untilResolved: false })
  await shop.followUp()
  const intent = await api.db.row(sql`select checks from intent where service_id = ${api.service.id}`)
  assert.deepEqual([intent, await open()], [{ checks: 0 }, [1, 1]])
  await api.db.run(sql`delete from reservation`)
  const lines = await count(api, api, 'audit')
  await shop.followUp()
  assert.deepEqual([await count(api, api, 'audit'), await open()], [lines + 1, [0, 0]])
})

test('a client waits for customer orders only as long as one call', async () => {
  const payment = { gateway: 'paypal', amount: tee.price, voucher: { number, validationId: 'none' } }
  simulator.faults.add({ kind: 'hang', method: 'GET', path: '/Persons/*/Orders' })
  const from = performance.now()
  assertProblem(
    await post(api, '/orders', order({ payments: [payment] }), withKey()),
    'back_office_unavailable',
    api.baseUrl,
  )
  assert.ok(performance.now() - from < 5_000)
})

test('an unsuccessful look-up locks no record', async () => {
  simulator.faults.add({ kind: 'reset-before', method: 'PUT', path: '/Persons/*', times: 1 })
  assertProblem(await put(api, `/customers/${customerId}`, { title: 'Sir' }), 'outcome_unknown', api.baseUrl)
  await shop.followUp()
  assert.deepEqual(await open(), [1, 0])
  assert.equal((await put(api, `/customers/${customerId}`, { title: 'Dr' })).status, 200)
})
