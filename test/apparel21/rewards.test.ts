import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Simulator } from '../../simulator/control/handle.ts'
import { createApparel21 } from '../../src/backoffice/apparel21/driver.ts'
import { connectToBackOffice, startApparel21Api } from '../drivers/apparel21.ts'
import { assertProblem } from '../support/problem.ts'
import type { TestApi } from '../support/service.ts'

let simulator: Simulator
let api: TestApi
let stop: () => Promise<void>
before(async () => {
  const installation = await startApparel21Api({ role: 'visitor' })
  ;({ simulator, api, stop } = installation)
})
after(() => stop())
beforeEach(() => simulator.faults.clear())

const getAccount = () => {
  const [account] = simulator.state.accounts.values()
  assert.ok(account)
  return account
}

test('a reward balance is live, even for customers not yet synced', async () => {
  const account = getAccount()
  const original = (await api.get(`/customers/${account.personId}/rewards`)).json.data
  assert.equal(original.id, String(account.id))
  account.points.push({
    id: 99_001,
    created: Date.UTC(2026, 0, 5, 15, 19, 10),
    description: 'By hand',
    reasonId: '',
    total: 40,
    redeemed: 10,
    pending: 5,
    expires: '2099-12-31',
  })
  const { data } = (await api.get(`/customers/${account.personId}/rewards`)).json
  assert.equal(data.availablePoints, original.availablePoints + 25)
  const added = data.points.find(({ id }: { id: string }) => id === '99001')
  assert.deepEqual(added, {
    id: '99001',
    createdAt: '2026-01-05 15:19:10',
    description: 'By hand',
    expiryDate: '2099-12-31',
    total: 40,
    redeemed: 10,
    pending: 5,
    available: 25,
  })
})

test('balances are unavailable during an outage and stored data stays available', async () => {
  const { personId, id } = getAccount()
  simulator.faults.add({ kind: 'down' })
  for (const path of [`/customers/${personId}/rewards`, `/rewards/accounts/${id}`]) {
    const response = await api.get(path)
    assertProblem(response, 'back_office_unavailable', api.baseUrl, path)
    assert.match(String(response.headers['retry-after']), /^\d+$/)
  }
  assert.equal((await api.get('/rewards/programs')).status, 200)
})

test('an invalid reward account response is 502 without its content', async () => {
  const { client, backOffice } = connectToBackOffice(simulator)
  try {
    for (const kind of ['wrong-root', 'truncated', 'html'] as const) {
      simulator.faults.clear()
      simulator.faults.add({ kind, path: '/Rewards/Accounts/*' })
      const pending = backOffice(api.service).rewardAccount(api, { id: String(getAccount().id) })
      await assert.rejects(pending, { code: 'back_office_error' })
    }
  } finally {
    client.close()
  }
})

test('capabilities of an unreachable back office assume no version', async () => {
  const { client, backOffice } = connectToBackOffice({ url: 'http://127.0.0.1:9/RetailAPI/' })
  try {
    const { driver, release, capabilities } = await backOffice(api.service).capabilities()
    assert.deepEqual([driver, release], ['apparel21', 'unknown'])
    const reasons = new Map(capabilities.map(({ name, reason }) => [name, reason]))
    for (const name of ['customersUpdatedAfter', 'voucherDeliveryDate', 'returns'] as const)
      assert.match(reasons.get(name) ?? '', /can't be determined/, name)
    assert.equal(reasons.get('stores'), undefined)
  } finally {
    client.close()
  }
})

test('capabilities list what export files add', async () => {
  const { client, upstream } = connectToBackOffice(simulator)
  try {
    const listUnavailable = async (hasExports: boolean) =>
      (await createApparel21(upstream, api.service, hasExports).capabilities()).capabilities
        .filter(({ available }) => !available)
        .map(({ name }) => name)
    const without = await listUnavailable(false)
    const added: readonly string[] = ['staff', 'transactions', 'signUpStore']
    for (const name of added)
      assert.ok(
        without.some(field => field === name),
        name,
      )
    assert.deepEqual(
      await listUnavailable(true),
      without.filter(name => !added.includes(name)),
    )
  } finally {
    client.close()
  }
})
