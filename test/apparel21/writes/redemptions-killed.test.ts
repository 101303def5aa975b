import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { freshSingleFlight } from '../../../src/concurrency/single-flight.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertPrograms, upsertRewardAccounts, upsertRewardLots } from '../../../src/store/rewards/rewards.ts'
import { listServices } from '../../../src/store/tenancy/services.ts'
import { serve } from '../../support/processes.ts'
import { buildTier } from '../../support/reward-member.ts'
import { startProcessFixture, type WriteResponse } from './processes.ts'

const { simulator, db, buildEnvironment, send, neighbour, expireClaims } = await startProcessFixture()
const steady = await serve(['--no-demo'], buildEnvironment('steady'))
const inOneRun = freshSingleFlight()
let victims = 0

/** Lets 200 clients redeem 1.00 each in two processes and kills one process. Each client repeats until it gets a final response. Returns the outcomes. */
async function redeemWithKill(accountId: string, credentials?: Record<string, string>): Promise<string[]> {
  const victim = await serve(['--no-demo'], buildEnvironment(`victim-${++victims}`))
  const path = `/rewards/accounts/${accountId}/redemptions`
  let responseCount = 0
  const sendUntilFinal = async (to: typeof steady, requestPath: string, body: object): Promise<WriteResponse> => {
    for (let target = to; ; target = steady) {
      const response = await send(target, requestPath, body, credentials && { credentials }).catch(() => undefined)
      if (++responseCount === 100) victim.child.kill('SIGKILL')
      if (
        response &&
        response.status < 500 &&
        response.code !== 'concurrent_update' &&
        response.code !== 'rate_limited'
      )
        return response
      // Concurrent updates of all claims could deadlock, so they share one run.
      if (!response) await inOneRun('claims', expireClaims)
    }
  }
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const to = i % 2 ? victim : steady
      const requestId = randomUUID()
      const { status, code } = await sendUntilFinal(to, path, { requestId, amount: '1.00' })
      if (status !== 201) return code
      const ended = await sendUntilFinal(to, `${path}/${requestId}/${i % 4 ? 'confirm' : 'cancel'}`, {})
      return ended.data?.status ?? ended.code
    }),
  )
  await victim.ended
  return outcomes
}

function assertOutcomes(outcomes: string[], usedAmount: number, reserved: number) {
  const confirmed = outcomes.filter(outcome => outcome === 'confirmed').length
  assert.deepEqual([...new Set(outcomes)].sort(), ['cancelled', 'confirmed', 'insufficient_rewards'])
  assert.deepEqual([usedAmount, reserved], [confirmed, 0])
  assert.ok(confirmed <= 40, `${confirmed} of 40 confirmed`)
}

test('200 clients and a kill redeem each reward once in our tables', async () => {
  const service = (await listServices(db)).find(({ name }) => name === 'neighbour') ?? assert.fail()
  await upsertPrograms(db, service, [buildTier('1', '0.00')])
  await upsertCustomers(db, service, [{ id: 'c1', firstname: 'Ann', surname: 'Lee' }])
  await upsertRewardAccounts(db, service, [{ id: 'a1', customerId: 'c1', programId: '1', tierId: '1' }])
  const lot = { accountId: 'a1', kind: 'reward', createdAt: '2026-01-05 10:00:00', total: '20.00' }
  await upsertRewardLots(db, service, [
    { ...lot, lotId: 'r1' },
    { ...lot, lotId: 'r2' },
  ])
  const outcomes = await redeemWithKill('a1', neighbour)
  const { rows } = await db.pool.query(
    `select (select sum(consumed) from reward_lot where service_id = $1)::float8 as used, (select count(*) from reward_redemption_part where service_id = $1)::integer as reserved`,
    [service.id],
  )
  assertOutcomes(outcomes, rows[0].used, rows[0].reserved)
})

test('200 clients and a kill redeem each reward once in Apparel21', async () => {
  const account = simulator.state.accounts.values().next().value ?? assert.fail()
  const lot = {
    id: 99_001,
    created: Date.UTC(2026, 0, 5),
    description: '',
    reasonId: '',
    total: 40,
    redeemed: 0,
    pending: 0,
  }
  account.rewards = [{ ...lot, expires: '2099-12-31' }]
  const outcomes = await redeemWithKill(String(account.id))
  const [{ redeemed, pending } = lot] = account.rewards
  assertOutcomes(outcomes, redeemed, pending)
})
