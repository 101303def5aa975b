import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { raw, sql } from '../../../src/database/db.ts'
import { reserveNames } from '../../../src/store/writes/intents.ts'
import { assertProblem } from '../../support/problem.ts'
import { lockVoucher } from '../../support/voucher-shop.ts'
import { post, put, withKey } from '../../support/write.ts'
import { countRows, startShopFixture } from '../shop.ts'
import { createOrderFixture } from './orders.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const { tee, customerId, buildOrder, countPlaced, countOrders, validateVoucher, findVoucher } =
  await createOrderFixture(shop)
const { number, pin } = findVoucher('6000001')

beforeEach(async () => {
  for (const table of ['upstream_voucher', 'intent', 'reservation']) await api.db.run(sql`delete from ${raw(table)}`)
  findVoucher(number).lockedUntil = 0
})
const countOpen = async () => [await countRows(api, api, 'intent'), await countRows(api, api, 'reservation')]
const delayCall = (path: string, seconds: number, method?: string) =>
  simulator.faults.add({ kind: 'latency', path, seconds, applied: true, times: 1, ...(method && { method }) })
const loseResponse = (path: string, method: string) =>
  simulator.faults.add({ kind: 'lost-response', method, path, times: 1 })
/** Waits until the simulator has received `times` calls. */
async function waitForCalls(path: string, times = 1) {
  while (simulator.ledger.findCalls({ path }).length < times) await new Promise(resolve => setTimeout(resolve, 10))
}
/** Expires reservations, as if their owner had taken too long. */
const expireReservations = () => api.db.run(sql`update reservation set reserved_until = now() - interval '1 s'`)
const readVoucher = () => api.request(`/vouchers/${number}?amount=5.00`, { headers: { 'x-voucher-pin': pin } })

for (const [label, sendValidation] of Object.entries({
  'POST /vouchers/validate': () => post(api, '/vouchers/validate', { number, pin, amount: '5.00' }),
  'GET /vouchers/{number}': readVoucher,
  'PUT /vouchers/{number}/lock': () => put(api, `/vouchers/${number}/lock`, { pin, lockSeconds: 60 }),
}))
  test(`a late validation does not end the new holder's lock: ${label}`, async () => {
    delayCall('/Voucher/GVValid/*', 1.5)
    const pending = sendValidation()
    await waitForCalls('/Voucher/GVValid/*')
    await expireReservations()
    const { validationId } = await validateVoucher(number, pin, '7.00')
    assert.equal((await lockVoucher(api, number, validationId, 600)).status, 200)
    const { status, json } = await pending
    assert.ok(status === 409 || status === 504, json.code)
    assert.equal((await lockVoucher(api, number, validationId, 600)).status, 200, 'the new holder can renew the lock')
    for (let i = 0; i < 2; i++) await shop.recoverWrites()
    assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200, 'the new holder can release the lock')
    assert.deepEqual(await countOpen(), [0, 0])
  })

test("a late rejected lock does not end the new holder's lock", async () => {
  const ownValidationId = (await validateVoucher(number, pin, '5.00')).validationId
  simulator.faults.add({ kind: 'latency', path: '/Voucher/Lock/*', seconds: 1.5, times: 1 })
  const pending = lockVoucher(api, number, ownValidationId, 1)
  await waitForCalls('/Voucher/Lock/*')
  await expireReservations()
  await api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 ms'`)
  const { validationId } = await validateVoucher(number, pin, '7.00')
  assert.equal((await lockVoucher(api, number, validationId, 600)).status, 200)
  assertProblem(await pending, 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200, 'the new holder still has the lock')
})

test('reconciling a lock neither locks nor validates', async () => {
  const { validationId } = await validateVoucher(number, pin, '5.00')
  loseResponse('/Voucher/Lock/*', 'PUT')
  assertProblem(await lockVoucher(api, number, validationId, 600), 'outcome_unknown', api.baseUrl)
  assert.equal((await lockVoucher(api, number, validationId, 0)).status, 200)
  loseResponse('/Voucher/Lock/*', 'PUT')
  assertProblem(await put(api, `/vouchers/${number}/lock`, { pin, lockSeconds: 600 }), 'outcome_unknown', api.baseUrl)
  await api.db.run(sql`update upstream_voucher set locked_until = now() - interval '1 ms'`)
  simulator.clock.advance(601)
  const next = await validateVoucher(number, pin, '7.00')
  simulator.ledger.clear()
  for (let i = 0; i < 2; i++) await shop.recoverWrites()
  assert.deepEqual([simulator.ledger.calls.length, await countOpen()], [0, [0, 0]])
  const lookedUp = await post(api, '/vouchers/lookup', { number, pin })
  assert.equal(lookedUp.json.data.status, 'active')
  assert.equal(
    (await lockVoucher(api, number, next.validationId, 0)).status,
    200,
    'the newest validation is still valid',
  )
})

test('a repeat during an outage keeps an earlier open attempt', async () => {
  const payment = await validateVoucher(number, pin, tee.price)
  const body = buildOrder({ payments: [{ gateway: 'paypal', amount: tee.price, voucher: payment }] })
  const [key, before] = [withKey(), await countOrders()]
  loseResponse('/Persons/*/Orders', 'POST')
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 0, method: 'POST' })
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 0, method: 'GET' })
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  assert.deepEqual(await countOpen(), [1, 2])
  simulator.faults.clear()
  await shop.recoverWrites()
  assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [1, before + 1, [0, 0]])
})

test('a repeat with a lost response is reconciled like a first attempt', async () => {
  const [body, key, before] = [buildOrder(), withKey(), await countOrders()]
  const loseRequest = () =>
    simulator.faults.add({ kind: 'reset-before', method: 'POST', path: '/Persons/*/Orders', times: 1 })
  loseRequest()
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  loseRequest()
  assertProblem(await post(api, '/orders', body, key), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.deepEqual(await countOpen(), [1, 1], 'the request can still arrive')
  await shop.recoverWrites()
  assert.deepEqual([countPlaced(), await countOrders(), await countOpen()], [0, before, [0, 0]])
})

test('a write whose record is locked is not reconciled as never executed', async () => {
  loseResponse('/Persons/*', 'PUT')
  assertProblem(await put(api, `/customers/${customerId}`, { title: 'Dr' }), 'outcome_unknown', api.baseUrl)
  const names = [`customer ${customerId}`]
  await reserveNames(api.db, api.keys, api.service, randomUUID(), { names, untilResolved: false })
  await shop.recoverWrites()
  const intent = await api.db.row(sql`select checks from intent where service_id = ${api.service.id}`)
  assert.deepEqual([intent, await countOpen()], [{ checks: 0 }, [1, 1]])
  await api.db.run(sql`delete from reservation`)
  const lines = await countRows(api, api, 'audit')
  await shop.recoverWrites()
  assert.deepEqual([await countRows(api, api, 'audit'), await countOpen()], [lines + 1, [0, 0]])
})

test('a client waits for customer orders only as long as one call', async () => {
  const payment = { gateway: 'paypal', amount: tee.price, voucher: { number, validationId: 'none' } }
  simulator.faults.add({ kind: 'hang', method: 'GET', path: '/Persons/*/Orders' })
  const from = performance.now()
  assertProblem(
    await post(api, '/orders', buildOrder({ payments: [payment] }), withKey()),
    'back_office_unavailable',
    api.baseUrl,
  )
  assert.ok(performance.now() - from < 5_000)
})

test('an unsuccessful look-up locks no record', async () => {
  simulator.faults.add({ kind: 'reset-before', method: 'PUT', path: '/Persons/*', times: 1 })
  assertProblem(await put(api, `/customers/${customerId}`, { title: 'Sir' }), 'outcome_unknown', api.baseUrl)
  await shop.recoverWrites()
  assert.deepEqual(await countOpen(), [1, 0])
  assert.equal((await put(api, `/customers/${customerId}`, { title: 'Dr' })).status, 200)
})
