import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { freshSingleFlight } from '../../../src/concurrency/single-flight.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertPrograms, upsertRewardAccounts, upsertRewardLots } from '../../../src/store/rewards/rewards.ts'
import { listServices } from '../../../src/store/tenancy/services.ts'
import { serve } from '../../support/processes.ts'
import { buildTier } from '../../support/reward-member.ts'
import { type Answered, shopOfProcesses } from './processes.ts'

const { simulator, db, environmentOf, send, neighbour, claimsRunOut } = await shopOfProcesses()
const steady = await serve(['--no-demo'], environmentOf('steady'))
const inOneRun = freshSingleFlight()
let victims = 0

/** 200 clients redeem 1.00 each in two processes, one of which is killed while they do. Each client repeats until it has an answer. */
async function redeemWithKill(accountId: string, by?: Record<string, string>): Promise<string[]> {
  const victim = await serve(['--no-demo'], environmentOf(`victim-${++victims}`))
  const path = `/rewards/accounts/${accountId}/redemptions`
  let answers = 0
  const request = async (to: typeof steady, at: string, body: object): Promise<Answered> => {
    for (let target = to; ; target = steady) {
      const answer = await send(target, at, body, by && { by }).catch(() => undefined)
      if (++answers === 100) victim.child.kill('SIGKILL')
      if (answer && answer.status < 500 && answer.code !== 'concurrent_update' && answer.code !== 'rate_limited')
        return answer
      // Only one at a time: it updates all claims, in any order.
      if (!answer) await inOneRun('claims', claimsRunOut)
    }
  }
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const to = i % 2 ? victim : steady
      const requestId = randomUUID()
      const { status, code } = await request(to, path, { requestId, amount: '1.00' })
      if (status !== 201) return code
      const ended = await request(to, `${path}/${requestId}/${i % 4 ? 'confirm' : 'cancel'}`, {})
      return ended.data?.status ?? ended.code
    }),
  )
  await victim.ended
  return outcomes
}

function check(outcomes: string[], used: number, reserved: number) {
  const confirmed = outcomes.filter(outcome => outcome === 'confirmed').length
  assert.deepEqual([...new Set(outcomes)].sort(), ['cancelled', 'confirmed', 'insufficient_rewards'])
  assert.deepEqual([used, reserved], [confirmed, 0])
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
  check(outcomes, rows[0].used, rows[0].reserved)
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
  check(outcomes, redeemed, pending)
})
