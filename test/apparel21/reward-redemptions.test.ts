import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { pino } from 'pino'
import type { Simulator } from '../../simulator/control/handle.ts'
import { finishRedemption } from '../../src/backoffice/apparel21/operations/reward-redemptions.ts'
import { sql } from '../../src/database/db.ts'
import { endRedemptions } from '../../src/jobs/end-redemptions.ts'
import type { JobRun } from '../../src/jobs/job.ts'
import { behind, startApparel21Api } from '../drivers/apparel21.ts'
import { assertProblem } from '../support/problem.ts'
import type { TestApi } from '../support/service.ts'
import { post } from '../support/write.ts'

let simulator: Simulator
let api: TestApi
let stop: () => Promise<void>
before(async () => {
  ;({ simulator, api, stop } = await startApparel21Api({ role: 'visitor' }))
})
after(() => stop())
beforeEach(() => {
  simulator.faults.clear()
  const account = someAccount()
  account.rewards = [
    {
      id: 99_001,
      created: Date.UTC(2026, 0, 5),
      description: 'By hand',
      reasonId: '',
      total: 20,
      redeemed: 0,
      pending: 0,
      expires: '2099-12-31',
    },
  ]
})

const someAccount = () => simulator.state.accounts.values().next().value ?? assert.fail()
const buildPath = () => `/rewards/accounts/${someAccount().id}/redemptions`
const redeem = (body: object, headers = {}) => post(api, buildPath(), { requestId: randomUUID(), ...body }, headers)
const reserve = async (amount: string) => {
  const response = await redeem({ amount })
  assert.equal(response.status, 201, response.text)
  return response.json.data.requestId as string
}
const end = (action: 'confirm' | 'cancel', requestId: string) => post(api, `${buildPath()}/${requestId}/${action}`, {})
const statusOf = async (requestId: string) => (await api.get(`${buildPath()}/${requestId}`)).json.data.status
/** Returns the reserved and the used amount in the back office. */
const lot = () => {
  const [{ pending, redeemed } = assert.fail()] = someAccount().rewards
  return { pending, redeemed }
}
const lose = (path: string, times = 1) => simulator.faults.add({ kind: 'lost-answer', method: 'POST', path, times })
const redemptionPath = '/Rewards/Accounts/*/Rewards/Redemptions'

async function runJob() {
  const { client } = behind(simulator)
  const { signal } = new AbortController()
  const { db, keys } = api
  const offices = { getDriver: () => ({ finishRedemption: finishRedemption(client) }) as never }
  try {
    await endRedemptions(offices).run({ db, keys, signal, log: pino({ level: 'silent' }) } as JobRun)
  } finally {
    client.close()
  }
}
const expire = () =>
  api.db.run(
    sql`update reward_redemption set expires_at = clock_timestamp() - interval '2 min' where service_id = ${api.service.id}`,
  )

test('a redemption is reserved, confirmed and cancelled in the back office', async () => {
  const first = await reserve('12.50')
  assert.deepEqual(lot(), { pending: 12.5, redeemed: 0 })
  assert.equal((await api.get(`/rewards/accounts/${someAccount().id}`)).json.data.availableRewards, '7.50')
  for (let i = 0; i < 2; i++) assert.equal((await end('confirm', first)).json.data.status, 'confirmed')
  assert.equal((await end('cancel', first)).json.code, 'invalid_transition')
  const second = await reserve('7.50')
  const short = await redeem({ amount: '0.01' })
  assertProblem(short, 'insufficient_rewards', api.baseUrl, buildPath())
  for (let i = 0; i < 2; i++) assert.equal((await end('cancel', second)).json.data.status, 'cancelled')
  assert.equal((await end('confirm', second)).json.code, 'invalid_transition')
  assert.deepEqual(lot(), { pending: 0, redeemed: 12.5 })
})

test('a lost response is resolved by the request ID', async () => {
  lose(redemptionPath)
  const requestId = await reserve('5.00')
  lose('/Rewards/Confirmation')
  assert.equal((await end('confirm', requestId)).json.data.status, 'confirmed')
  const other = await reserve('3.00')
  lose('/Rewards/Reversal')
  assert.equal((await end('cancel', other)).json.data.status, 'cancelled')
  assert.deepEqual(lot(), { pending: 0, redeemed: 5 })
})

test('a lasting unknown outcome is never rejected; a repetition resolves it', async () => {
  const requestId = randomUUID()
  lose(redemptionPath, 2)
  const unknown = await redeem({ requestId, amount: '20.00' })
  assert.deepEqual([unknown.status, unknown.json.code], [504, 'outcome_unknown'])
  assert.equal(await statusOf(requestId), 'unknown')
  assert.equal((await end('confirm', requestId)).json.code, 'invalid_transition')
  assert.equal((await redeem({ requestId, amount: '20.00' })).json.data.status, 'pending')
  lose('/Rewards/Confirmation', 2)
  assert.equal((await end('confirm', requestId)).json.code, 'outcome_unknown')
  assert.equal((await end('cancel', requestId)).json.code, 'invalid_transition')
  assert.equal((await end('confirm', requestId)).json.data.status, 'confirmed')
  assert.deepEqual(lot(), { pending: 0, redeemed: 20 })
})

test('a rejection after a lost request leaves nothing reserved', async () => {
  simulator.faults.add({ kind: 'reset-before', method: 'POST', path: redemptionPath, times: 1 })
  const rejected = await redeem({ amount: '21.00' })
  assert.equal(rejected.json.code, 'insufficient_rewards', rejected.text)
  assert.deepEqual(lot(), { pending: 0, redeemed: 0 })
})

test('an outage reserves nothing and confirms nothing', async () => {
  const requestId = await reserve('5.00')
  simulator.faults.add({ kind: 'status', status: 503, method: 'POST' })
  assert.equal((await redeem({ amount: '5.00' })).json.code, 'back_office_unavailable')
  assert.equal((await end('confirm', requestId)).json.code, 'back_office_unavailable')
  assert.equal(await statusOf(requestId), 'pending')
  simulator.faults.clear()
  assert.equal((await end('confirm', requestId)).json.data.status, 'confirmed')
})

test('the job reverses expired redemptions and finishes what is in doubt', async () => {
  const pending = await reserve('2.00')
  const inDoubt = randomUUID()
  lose(redemptionPath, 2)
  await redeem({ requestId: inDoubt, amount: '3.00' })
  const confirming = await reserve('4.00')
  lose('/Rewards/Confirmation', 2)
  await end('confirm', confirming)
  assert.deepEqual(lot(), { pending: 5, redeemed: 4 })
  await expire()
  lose('/Rewards/Reversal')
  await runJob().catch(() => undefined)
  await runJob()
  assert.deepEqual(await Promise.all([pending, inDoubt, confirming].map(statusOf)), ['expired', 'expired', 'confirmed'])
  assert.deepEqual(lot(), { pending: 0, redeemed: 4 })
})

test('a redemption that the back office has ended is reported as expired', async () => {
  const requestId = await reserve('2.00')
  await fetch(new URL(`Rewards/Reversal?countryCode=AU&requestId=${requestId}`, simulator.url), {
    method: 'POST',
    headers: { accept: 'version_1.0', 'content-type': 'text/xml' },
  })
  assert.equal((await end('confirm', requestId)).json.code, 'invalid_transition')
  assert.equal(await statusOf(requestId), 'expired')
})

test('a dry run changes nothing in the back office', async () => {
  const dryRun = { prefer: 'tx=rollback' }
  assert.equal((await redeem({ amount: '5.00' }, dryRun)).json.data.status, 'pending')
  assert.equal((await redeem({ amount: '21.00' }, dryRun)).json.code, 'insufficient_rewards')
  assert.deepEqual(lot(), { pending: 0, redeemed: 0 })
  assert.equal(
    (await post(api, '/rewards/accounts/999999/redemptions', { requestId: randomUUID(), points: 1 })).status,
    404,
  )
})
