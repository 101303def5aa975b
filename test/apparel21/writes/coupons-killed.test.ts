import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { freshSingleFlight } from '../../../src/concurrency/single-flight.ts'
import { serve, stopServer, waitUntil } from '../../support/processes.ts'
import { type SendOptions, startProcessFixture, type WriteResponse } from './processes.ts'

const { simulator, buildEnvironment, send, expireClaims, buildOrder } = await startProcessFixture()
const steady = await serve(['--no-demo'], buildEnvironment('steady'))
type Server = typeof steady
const inOneRun = freshSingleFlight()

/** Adds a coupon that one order can use. */
function addCoupon(code: string): string {
  const template = simulator.state.coupons.get('SEASON1') ?? assert.fail()
  simulator.state.coupons.set(code, { ...template, code, redeemed: false, lockedBy: '', lockedUntil: 0 })
  return code
}
const isLocked = (code: string) => simulator.state.coupons.get(code)?.lockedBy !== ''
const listEffects = (kind: 'coupon redeemed' | 'order created') => simulator.ledger.findEffects(kind)

/** Repeats a request with its key until its outcome is known. Uses the steady process if the first one has died. */
async function sendUntilFinal(
  to: Server,
  path: string,
  body: object,
  method: SendOptions['method'] = 'POST',
): Promise<WriteResponse> {
  const key = randomUUID()
  for (let target = to; ; target = steady) {
    const response = await send(target, path, body, { key, method }).catch(() => undefined)
    const isOpen = response?.code === 'idempotency_in_progress' || response?.code === 'concurrent_update'
    if (response && response.status < 500 && !isOpen) return response
    // Concurrent updates of all claims could deadlock, so they share one run.
    await inOneRun('claims', expireClaims)
  }
}

const reservations = '/coupons/reservations'
const buildReservation = (code: string, shopper: number) => {
  const { customerId, lines } = buildOrder(shopper)
  return { code, customerId, lines }
}

/** Reserves a coupon and orders with it. `between` runs after the reservation. */
async function redeem(to: Server, code: string, shopper: number, between = async () => {}): Promise<WriteResponse> {
  const { customerId, lines, payments, ...addresses } = buildOrder(shopper)
  const reserved = await sendUntilFinal(to, reservations, buildReservation(code, shopper))
  if (reserved.status !== 201) return reserved
  await between()
  const { quoteId, total } = reserved.data.quote
  const paid = payments.map(payment => ({ ...payment, amount: total }))
  return sendUntilFinal(to, '/orders', { ...addresses, customerId, lines, quoteId, payments: paid })
}

const crashPoints = ['before_upstream', 'after_upstream', 'before_commit']

for (const crashPoint of crashPoints)
  test(`a coupon is redeemed once if its reservation is killed at ${crashPoint}`, async () => {
    const code = addCoupon(`RESERVE-${crashPoint}`)
    const victim = await serve(['--no-demo'], buildEnvironment(`reserve-${crashPoint}`, { FAILPOINT: crashPoint }))
    const placed = await redeem(victim, code, 1)
    assert.equal(placed.status, 201, placed.code)
    assert.equal((await victim.ended).signal, 'SIGKILL')
    assert.equal(listEffects('coupon redeemed').filter(({ id }) => id === code).length, 1)
  })

for (const crashPoint of crashPoints)
  test(`a coupon is free if its release is killed at ${crashPoint}`, async () => {
    const code = addCoupon(`RELEASE-${crashPoint}`)
    const reserved = await sendUntilFinal(steady, reservations, buildReservation(code, 1))
    const victim = await serve(['--no-demo'], buildEnvironment(`release-${crashPoint}`, { FAILPOINT: crashPoint }))
    const released = await sendUntilFinal(victim, `${reservations}/${reserved.data.id}`, {}, 'DELETE')
    assert.equal(released.status, 200, released.code)
    assert.equal((await victim.ended).signal, 'SIGKILL')
    assert.equal(isLocked(code), false)
    assert.equal((await redeem(steady, code, 2)).status, 201)
  })

test('workers release a coupon after a killed reservation without a retry', async () => {
  const code = addCoupon('ABANDONED')
  const victim = await serve(['--no-demo'], buildEnvironment('abandoned', { FAILPOINT: 'after_upstream' }))
  await assert.rejects(send(victim, reservations, buildReservation(code, 1)))
  assert.equal((await victim.ended).signal, 'SIGKILL')
  assert.equal(isLocked(code), true)
  const worker = await serve(['--no-demo'], buildEnvironment('worker', { RUN_JOBS: 'true' }))
  await expireClaims(true)
  await waitUntil(() => !isLocked(code), 'the coupon is free')
  await stopServer(worker)
  assert.equal((await redeem(steady, code, 2)).status, 201)
})

test('clients and kills between reservation and order redeem each coupon once', async () => {
  simulator.ledger.clear()
  const codes = Array.from({ length: 8 }, (_, i) => addCoupon(`MANY-${i}`))
  const victim = await serve(['--no-demo'], buildEnvironment('victim'))
  let reserved = 0
  const killAfterFour = async () => {
    if (++reserved === 4) victim.child.kill('SIGKILL')
  }
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      redeem(i % 2 ? victim : steady, codes[i % codes.length] ?? '', i, killAfterFour),
    ),
  )
  await victim.ended
  const outcomes = new Set(responses.map(({ status, code }) => (status === 201 ? 'ordered' : code)))
  for (const outcome of outcomes) assert.ok(['ordered', 'coupon_locked', 'coupon_unusable'].includes(outcome), outcome)
  const redeemed = listEffects('coupon redeemed').map(({ id }) => id)
  assert.deepEqual(redeemed.toSorted(), codes)
  const ordered = responses.filter(({ status }) => status === 201).length
  assert.deepEqual([ordered, listEffects('order created').length], [codes.length, codes.length])
})
