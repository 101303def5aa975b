import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { pino } from 'pino'
import type { Simulator } from '../../simulator/control/handle.ts'
import { finishRedemption } from '../../src/backoffice/apparel21/operations/reward-redemptions.ts'
import { sql } from '../../src/database/db.ts'
import { endRedemptions } from '../../src/jobs/end-redemptions.ts'
import type { JobRun } from '../../src/jobs/job.ts'
import { connectToBackOffice, startApparel21Api } from '../drivers/apparel21.ts'
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
  const account = getAccount()
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

const getAccount = () => simulator.state.accounts.values().next().value ?? assert.fail()
const buildPath = () => `/rewards/accounts/${getAccount().id}/redemptions`
const redeem = (body: object, headers = {}) => post(api, buildPath(), { requestId: randomUUID(), ...body }, headers)
const reserve = async (amount: string) => {
  const response = await redeem({ amount })
  assert.equal(response.status, 201, response.text)
  return response.json.data.requestId as string
}
const endRedemption = (action: 'confirm' | 'cancel', requestId: string) =>
  post(api, `${buildPath()}/${requestId}/${action}`, {})
const getStatus = async (requestId: string) => (await api.get(`${buildPath()}/${requestId}`)).json.data.status
/** Returns the reserved and the used amount of the reward in the back office. */
const getLotAmounts = () => {
  const [{ pending, redeemed } = assert.fail()] = getAccount().rewards
  return { pending, redeemed }
}
const loseResponse = (path: string, times = 1) =>
  simulator.faults.add({ kind: 'lost-response', method: 'POST', path, times })
const redemptionPath = '/Rewards/Accounts/*/Rewards/Redemptions'

async function runJob() {
  const { client } = connectToBackOffice(simulator)
  const { signal } = new AbortController()
  const { db, keys } = api
  const offices = { getDriver: () => ({ finishRedemption: finishRedemption(client) }) as never }
  try {
    await endRedemptions(offices).run({ db, keys, signal, log: pino({ level: 'silent' }) } as JobRun)
  } finally {
    client.close()
  }
}
const expireAll = () =>
  api.db.run(
    sql`update reward_redemption set expires_at = clock_timestamp() - interval '2 min' where service_id = ${api.service.id}`,
  )

test('a redemption is reserved, confirmed and cancelled in the back office', async () => {
  const first = await reserve('12.50')
  assert.deepEqual(getLotAmounts(), { pending: 12.5, redeemed: 0 })
  assert.equal((await api.get(`/rewards/accounts/${getAccount().id}`)).json.data.availableRewards, '7.50')
  for (let i = 0; i < 2; i++) assert.equal((await endRedemption('confirm', first)).json.data.status, 'confirmed')
  assert.equal((await endRedemption('cancel', first)).json.code, 'invalid_transition')
  const second = await reserve('7.50')
  const short = await redeem({ amount: '0.01' })
  assertProblem(short, 'insufficient_rewards', api.baseUrl, buildPath())
  for (let i = 0; i < 2; i++) assert.equal((await endRedemption('cancel', second)).json.data.status, 'cancelled')
  assert.equal((await endRedemption('confirm', second)).json.code, 'invalid_transition')
  assert.deepEqual(getLotAmounts(), { pending: 0, redeemed: 12.5 })
})

test('a lost response is resolved by the request ID', async () => {
  loseResponse(redemptionPath)
  const requestId = await reserve('5.00')
  loseResponse('/Rewards/Confirmation')
  assert.equal((await endRedemption('confirm', requestId)).json.data.status, 'confirmed')
  const other = await reserve('3.00')
  loseResponse('/Rewards/Reversal')
  assert.equal((await endRedemption('cancel', other)).json.data.status, 'cancelled')
  assert.deepEqual(getLotAmounts(), { pending: 0, redeemed: 5 })
})

test('a lasting unknown outcome is never rejected; a repetition resolves it', async () => {
  const requestId = randomUUID()
  loseResponse(redemptionPath, 2)
  const unknown = await redeem({ requestId, amount: '20.00' })
  assert.deepEqual([unknown.status, unknown.json.code], [504, 'outcome_unknown'])
  assert.equal(await getStatus(requestId), 'unknown')
  assert.equal((await endRedemption('confirm', requestId)).json.code, 'invalid_transition')
  assert.equal((await redeem({ requestId, amount: '20.00' })).json.data.status, 'pending')
  loseResponse('/Rewards/Confirmation', 2)
  assert.equal((await endRedemption('confirm', requestId)).json.code, 'outcome_unknown')
  assert.equal((await endRedemption('cancel', requestId)).json.code, 'invalid_transition')
  assert.equal((await endRedemption('confirm', requestId)).json.data.status, 'confirmed')
  assert.deepEqual(getLotAmounts(), { pending: 0, redeemed: 20 })
})

test('a rejection after a lost request leaves nothing reserved', async () => {
  simulator.faults.add({ kind: 'reset-before', method: 'POST', path: redemptionPath, times: 1 })
  const rejected = await redeem({ amount: '21.00' })
  assert.equal(rejected.json.code, 'insufficient_rewards', rejected.text)
  assert.deepEqual(getLotAmounts(), { pending: 0, redeemed: 0 })
})

test('an outage reserves nothing and confirms nothing', async () => {
  const requestId = await reserve('5.00')
  simulator.faults.add({ kind: 'status', status: 503, method: 'POST' })
  assert.equal((await redeem({ amount: '5.00' })).json.code, 'back_office_unavailable')
  assert.equal((await endRedemption('confirm', requestId)).json.code, 'back_office_unavailable')
  assert.equal(await getStatus(requestId), 'pending')
  simulator.faults.clear()
  assert.equal((await endRedemption('confirm', requestId)).json.data.status, 'confirmed')
})

test('the job reverses expired redemptions and finishes what is in doubt', async () => {
  const pending = await reserve('2.00')
  const inDoubt = randomUUID()
  loseResponse(redemptionPath, 2)
  await redeem({ requestId: inDoubt, amount: '3.00' })
  const confirming = await reserve('4.00')
  loseResponse('/Rewards/Confirmation', 2)
  await endRedemption('confirm', confirming)
  assert.deepEqual(getLotAmounts(), { pending: 5, redeemed: 4 })
  await expireAll()
  loseResponse('/Rewards/Reversal')
  await runJob().catch(() => undefined)
  await runJob()
  assert.deepEqual(await Promise.all([pending, inDoubt, confirming].map(getStatus)), [
    'expired',
    'expired',
    'confirmed',
  ])
  assert.deepEqual(getLotAmounts(), { pending: 0, redeemed: 4 })
})

test('a redemption that the back office has ended is reported as expired', async () => {
  const requestId = await reserve('2.00')
  await fetch(new URL(`Rewards/Reversal?countryCode=AU&requestId=${requestId}`, simulator.url), {
    method: 'POST',
    headers: { accept: 'version_1.0', 'content-type': 'text/xml' },
  })
  assert.equal((await endRedemption('confirm', requestId)).json.code, 'invalid_transition')
  assert.equal(await getStatus(requestId), 'expired')
})

test('a dry run changes nothing in the back office', async () => {
  const dryRun = { prefer: 'tx=rollback' }
  assert.equal((await redeem({ amount: '5.00' }, dryRun)).json.data.status, 'pending')
  assert.equal((await redeem({ amount: '21.00' }, dryRun)).json.code, 'insufficient_rewards')
  assert.deepEqual(getLotAmounts(), { pending: 0, redeemed: 0 })
  assert.equal(
    (await post(api, '/rewards/accounts/999999/redemptions', { requestId: randomUUID(), points: 1 })).status,
    404,
  )
})
