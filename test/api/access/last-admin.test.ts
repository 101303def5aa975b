import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { createAccount } from '../../support/accounts.ts'
import { waitForBlockedConnections } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

const settings = { writesPerMinute: 'off', readsPerMinute: 'off' } as const
let api: TestApi
let secondApi: TestApi
before(async () => {
  api = await startTestApi({ settings })
  secondApi = await startTestApi({ sharedWith: api })
})
after(async () => {
  await secondApi.stop()
  await api.stop()
})

const pathOf = ({ username }: Pick<Caller, 'username'>) => `/accounts/${username}`
const demote = (caller: Pick<Caller, 'request'>, target: Pick<Caller, 'username'>) =>
  put(caller, pathOf(target), { role: 'maintainer' })
const revoke = (caller: Pick<Caller, 'request'>, target: Pick<Caller, 'username'>) =>
  post(caller, `${pathOf(target)}/revoke`, {})

const adminsOf = async (admin: Caller) =>
  (await admin.get('/accounts')).json.data.filter(({ role }: { role: string }) => role === 'admin').length

test('an account that is the last admin cannot be revoked or demoted', async () => {
  const caller = await api.createService(settings)
  await createAccount(caller, 'maintainer')
  const otherCaller = await api.createService()
  await addAccount(api.db, api.keys, caller.username, otherCaller.service, 'admin')
  for (const response of [await demote(caller, caller), await revoke(caller, caller)])
    assertProblem(response, 'last_admin', api.baseUrl)
  assert.equal((await put(caller, pathOf(caller), { role: 'admin' })).status, 200)
  const second = await createAccount(caller, 'admin')
  assert.equal((await demote(caller, caller)).status, 200)
  // For up to 5 seconds the first may still do what it could; what it may not do is to take the last one away.
  assertProblem(await demote(caller, second), 'last_admin', api.baseUrl)
  assertProblem(await revoke(caller, second), 'last_admin', api.baseUrl)
})

test('a sole admin does not prevent the revocation of other accounts', async () => {
  const caller = await api.createService(settings)
  const visitor = await createAccount(caller, 'visitor')
  assert.equal((await put(caller, pathOf(visitor), { role: 'maintainer' })).status, 200)
  assert.equal((await revoke(caller, visitor)).status, 200)
})

test('a last-admin rejection adds no audit entry and leaves its key unused', async () => {
  const caller = await api.createService(settings)
  const key = { 'idempotency-key': 'revoke me' }
  const path = `${pathOf(caller)}/revoke`
  assertProblem(await post(caller, path, {}, key), 'last_admin', api.baseUrl)
  assert.deepEqual((await caller.get('/audit')).json.data, [])
  await createAccount(caller, 'admin')
  assert.equal((await post(caller, path, {}, key)).status, 200)
})

type Move = (caller: Pick<Caller, 'request'>, target: Pick<Caller, 'username'>) => Promise<TestResponse>
const moves: [name: string, first: Move, second: Move][] = [
  ['demote', demote, demote],
  ['revoke', revoke, revoke],
  ['demote and revoke', demote, revoke],
]
for (const [name, first, second] of moves)
  test(`one of two admins who ${name} each other concurrently is rejected`, async () => {
    for (let round = 0; round < 5; round++) {
      const ann = await api.createService(settings)
      const bob = await api.createAccount('admin', ann.service)
      const there = elsewhere(bob)
      await Promise.all([ann.get('/accounts'), there.request('/accounts')])
      const responses = await whileHeld(() => [first(ann, bob), second(there, ann)])
      const winners = responses.filter(({ status }) => status === 200)
      assert.equal(winners.length, 1, `${responses.map(({ text }) => text)}`)
      for (const response of responses)
        if (response.status !== 200) assertProblem(response, 'last_admin', baseUrlOf(response))
      assert.equal(await adminsOf(responses[0]?.status === 200 ? ann : bob), 1)
    }
  })

/** Returns the responses to concurrent writes that are all blocked until one of them changes a role. */
async function whileHeld(send: () => Promise<TestResponse>[]) {
  const holder = await api.db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('lock table account_service in share mode')
    const answering = send()
    await waitForBlockedConnections(api, answering.length)
    await holder.query('commit')
    return await Promise.all(answering)
  } finally {
    holder.release(true)
  }
}

test('one of ten admins stays admin if all resign concurrently', async () => {
  const first = await api.createService(settings)
  const all = [
    first,
    ...(await Promise.all(Array.from({ length: 9 }, () => api.createAccount('admin', first.service)))),
  ]
  const responses = await whileHeld(() => all.map((admin, i) => demote(i % 2 ? elsewhere(admin) : admin, admin)))
  assert.equal(responses.filter(({ status }) => status === 200).length, 9)
  const [remaining = first] = all.filter((_, i) => responses[i]?.status === 409)
  assert.equal(await adminsOf(remaining), 1)
})

/** The same caller at the other server. */
const elsewhere = (caller: Caller): Pick<Caller, 'request'> => ({
  request: (path, options = {}) =>
    secondApi.request(path, {
      ...options,
      headers: {
        ...options.headers,
        authorization: `Basic ${Buffer.from(`${caller.username}:${caller.password}`).toString('base64')}`,
        'x-service-name': caller.service.name,
      },
    }),
})

const baseUrlOf = ({ json }: TestResponse) => String(json.type).replace(/\/errors\/.*/, '')
