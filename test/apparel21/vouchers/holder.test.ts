import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { raw, sql } from '../../../src/database/db.ts'
import { toCents, toDollars } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import type { TestResponse } from '../../support/service.ts'
import { clearFailures, lockVoucher } from '../../support/voucher-shop.ts'
import { assertReplay, post, put, withKey } from '../../support/write.ts'
import { countRows, startShopFixture } from '../shop.ts'
import { createOrderFixture } from '../writes/orders.ts'
import { type Act, createHistory, type Fault, leaseLost, type Round, rounds, shoppers } from './holder-model.ts'

/** Number of runs of the model. For a longer test: `HOLDER_RUNS=500`. */
const runs = Number(process.env.HOLDER_RUNS ?? 6)

const shop = await startShopFixture()
const { api, simulator } = shop
const servers = [api, await shop.startSecondServer()] as const
const { tee, buildOrder, findVoucher } = await createOrderFixture(shop)
const { number, pin } = findVoucher('6000001')
const lockSeconds = 60

/** Makes the voucher unused and unlocked, with a balance of 100.00. */
async function resetVoucher() {
  await shop.reset()
  for (const table of ['upstream_voucher', 'intent', 'reservation']) await api.db.run(sql`delete from ${raw(table)}`)
  Object.assign(findVoucher(number), { used: 0, lockedUntil: 0, validationId: '' })
}

const paths = {
  'look up': '/Voucher/6*',
  validate: '/Voucher/GVValid/*',
  lock: '/Voucher/Lock/*',
  unlock: '/Voucher/Lock/*',
  'lock by PIN': '/Voucher/*',
  draw: '/Persons/*/Orders',
  repeat: '/Persons/*/Orders',
} as const

function addFault(operation: Act['operation'], fault: Fault) {
  const path = paths[operation]
  if (fault === 'killed') shop.failCommits(1)
  else if (fault === 'late' || fault === 'late after its effect')
    simulator.faults.add({ kind: 'latency', path, seconds: 0.7, applied: fault !== 'late', times: 1 })
  else simulator.faults.add({ kind: fault, path, times: 1 })
}

/** Expires all claims and reservations. */
async function expireClaims() {
  await api.db.run(sql`update reservation set reserved_until = now() - interval '1 s'`)
  await api.db.run(sql`update intent set claimed_until = now() - interval '1 s'`)
}

const buildOrderBody = (act: Act, validationId: string) => {
  const amount = Math.min(act.cents, toCents(tee.price))
  const remainder = toCents(tee.price) - amount
  const paid = { gateway: 'paypal', amount: toDollars(amount), voucher: { number, validationId } }
  return buildOrder({ payments: [paid, ...(remainder ? [{ gateway: 'visa', amount: toDollars(remainder) }] : [])] })
}

/** The state of one shopper. */
interface Shopper {
  /** The operation in flight. A late one continues during the next round. */
  pending: Promise<unknown>
  validationId: string | undefined
  open: { body: object; headers: Record<string, string> } | undefined
}

/** Sends an operation. Returns undefined if the shopper has no validation or no open order for it. */
function sendOperation(shopper: Shopper, act: Act): Promise<TestResponse> | undefined {
  const server = servers[act.server]
  const { validationId: id, open } = shopper
  if (act.operation === 'look up') return post(server, '/vouchers/lookup', { number, pin })
  if (act.operation === 'validate')
    return post(server, '/vouchers/validate', { number, pin, amount: toDollars(act.cents) })
  if (act.operation === 'lock by PIN') return put(server, `/vouchers/${number}/lock`, { pin, lockSeconds })
  if (act.operation === 'repeat') return open && post(server, '/orders', open.body, open.headers)
  if (id === undefined) return
  if (act.operation === 'lock') return lockVoucher(server, number, id, lockSeconds)
  if (act.operation === 'unlock') return lockVoucher(server, number, id, 0)
  shopper.open = { body: buildOrderBody(act, id), headers: withKey() }
  return post(server, '/orders', shopper.open.body, shopper.open.headers)
}

async function runRound(round: Round, shopperStates: readonly Shopper[], history: ReturnType<typeof createHistory>) {
  const acts = round.acts.flatMap((act, i) => (act && shopperStates[i] ? [{ act, i, shopper: shopperStates[i] }] : []))
  for (const { operation, fault } of acts.map(({ act }) => act)) if (fault) addFault(operation, fault)
  const isOverdue = (act: Act) => act.fault?.startsWith('late')
  const startAct = async ({ act, i, shopper }: (typeof acts)[number]) => {
    await shopper.pending
    await delay(act.waitMs)
    const wasHolding = history.recordBeginning(i, act.operation)
    const from = performance.now()
    const response = await sendOperation(shopper, act)
    if (!response) return
    const { status, json } = response
    const outcome = String(json.code ?? status)
    history.recordEnd({ shopper: i, operation: act.operation, from, outcome }, wasHolding)
    if (status < 300 && json.data.validationId) shopper.validationId = json.data.validationId
    if (act.operation === 'draw' && outcome !== 'outcome_unknown' && outcome !== leaseLost) shopper.open = undefined
  }
  for (const act of acts) act.shopper.pending = startAct(act)
  await Promise.all(acts.map(({ act, shopper }) => (isOverdue(act) ? delay(80).then(expireClaims) : shopper.pending)))
  simulator.faults.clear()
  shop.failCommits(0)
  await clearFailures(api)
  const isOpen = acts.some(({ act }) => act.fault && (act.operation === 'draw' || act.operation === 'repeat'))
  if (isOpen || round.next === 'recover writes') await shop.recoverWrites()
  if (round.next === 'locks expire') await expireLocks(history)
}

async function expireLocks(history: ReturnType<typeof createHistory>) {
  history.expireLocks()
  await expireClaims()
  simulator.clock.advance(lockSeconds + 1)
  await api.db.run(
    sql`update upstream_voucher set locked_until = now() - interval '1 ms' where locked_until is not null`,
  )
}

/** Recovers all writes, then asserts that our voucher matches the back office and is usable. */
async function assertConsistent(history: ReturnType<typeof createHistory>) {
  await expireClaims()
  for (let i = 0; i < 3; i++) await shop.recoverWrites()
  assert.deepEqual([await countRows(api, api, 'intent'), await countRows(api, api, 'reservation')], [0, 0])
  const upstreamVoucher = findVoucher(number)
  const paid = await api.db.row<{ paid: string }>(sql`
    select coalesce(sum(amount), 0)::text as paid from order_payment where service_id = ${api.service.id} and voucher_number = ${number}`)
  const row = await api.db.row<{ used: string; isLeased: boolean }>(sql`
    select used_amount::text as used, coalesce(locked_until > now(), false) as "isLeased" from upstream_voucher where number = ${number}`)
  const [drawnCents, recordedCents] = [toCents(paid?.paid ?? '0') - before, toCents(row?.used ?? '0')]
  before += drawnCents
  assert.equal(
    drawnCents,
    Math.round(upstreamVoucher.used * 100),
    'the back office must have drawn what orders were paid with',
  )
  assert.ok(drawnCents <= 10_000)
  assert.equal(recordedCents, drawnCents, 'our used amount must match the back office')
  if (upstreamVoucher.lockedUntil > simulator.clock.now())
    assert.equal(row?.isLeased, true, 'a voucher locked in the back office must be locked here')
  await expireLocks(history)
  const validated = await post(api, '/vouchers/validate', { number, pin, amount: '0.01' })
  assert.equal(validated.status, 200, validated.text)
  assert.equal((await lockVoucher(servers[1], number, validated.json.data.validationId, 1)).status, 200)
}
let before = 0

test('holders keep their locks and no voucher is overdrawn despite failures', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async drawnRounds => {
      await resetVoucher()
      const shopperStates = Array.from(
        { length: shoppers },
        (): Shopper => ({ validationId: undefined, open: undefined, pending: Promise.resolve() }),
      )
      const history = createHistory()
      for (const round of drawnRounds) await runRound(round, shopperStates, history)
      await Promise.all(shopperStates.map(({ pending }) => pending))
      history.assertExclusive()
      await assertConsistent(history)
    }),
    { numRuns: runs, endOnFailure: true, ...(process.env.HOLDER_SEED && { seed: Number(process.env.HOLDER_SEED) }) },
  )
})

test('a lock by PIN with a lost response is replayed only identically', async () => {
  await resetVoucher()
  simulator.ledger.clear()
  const [path, key] = [`/vouchers/${number}/lock`, withKey()]
  for (const kind of ['lost-response', 'reset-before'] as const) {
    simulator.faults.add({ kind, path: '/Voucher/Lock/*', times: 1 })
    assertProblem(await put(api, path, { pin }, key), 'outcome_unknown', api.baseUrl)
    assertProblem(await put(api, path, { pin }, withKey()), 'voucher_locked', api.baseUrl)
  }
  const again = await put(servers[1], path, { pin }, key)
  assert.deepEqual([again.status, again.json.data?.status], [200, 'locked'], again.text)
  assert.equal(simulator.ledger.findCalls({ path: '/Voucher/GVValid/*' }).length, 1)
  assertReplay(await put(api, path, { pin }, key), again)
  await api.db.run(sql`delete from idempotent_response where service_id = ${api.service.id}`)
  assertProblem(await put(api, path, { pin: '9999' }, key), 'voucher_not_accepted', api.baseUrl)
  assert.equal((await lockVoucher(api, number, again.json.data.validationId, 0)).json.data.status, 'active')
})
