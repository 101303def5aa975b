import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { createAccount } from '../../support/accounts.ts'
import { holdLocks, waitForBlockedConnections } from '../../support/postgres/hold-locks.ts'
import { assertProblem } from '../../support/problem.ts'
import { sendThrough } from '../../support/servers.ts'
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

const toPath = ({ username }: Pick<Caller, 'username'>) => `/accounts/${username}`
const demote = (caller: Pick<Caller, 'request'>, target: Pick<Caller, 'username'>) =>
  put(caller, toPath(target), { role: 'maintainer' })
const revoke = (caller: Pick<Caller, 'request'>, target: Pick<Caller, 'username'>) =>
  post(caller, `${toPath(target)}/revoke`, {})

const countAdmins = async (admin: Caller) =>
  (await admin.get('/accounts')).json.data.filter(({ role }: { role: string }) => role === 'admin').length

test('an account that is the last admin cannot be revoked or demoted', async () => {
  const caller = await api.createService(settings)
  await createAccount(caller, 'maintainer')
  const otherCaller = await api.createService()
  await addAccount(api.db, api.keys, caller.username, otherCaller.service, 'admin')
  for (const response of [await demote(caller, caller), await revoke(caller, caller)])
    assertProblem(response, 'last_admin', api.baseUrl)
  assert.equal((await put(caller, toPath(caller), { role: 'admin' })).status, 200)
  const second = await createAccount(caller, 'admin')
  assert.equal((await demote(caller, caller)).status, 200)
  // The first account keeps its old role for up to 5 s, but can't remove the last admin.
  assertProblem(await demote(caller, second), 'last_admin', api.baseUrl)
  assertProblem(await revoke(caller, second), 'last_admin', api.baseUrl)
})

test('a sole admin does not prevent the revocation of other accounts', async () => {
  const caller = await api.createService(settings)
  const visitor = await createAccount(caller, 'visitor')
  assert.equal((await put(caller, toPath(visitor), { role: 'maintainer' })).status, 200)
  assert.equal((await revoke(caller, visitor)).status, 200)
})

test('a last-admin rejection adds no audit entry and leaves its key unused', async () => {
  const caller = await api.createService(settings)
  const key = { 'idempotency-key': 'revoke me' }
  const path = `${toPath(caller)}/revoke`
  assertProblem(await post(caller, path, {}, key), 'last_admin', api.baseUrl)
  assert.deepEqual((await caller.get('/audit')).json.data, [])
  await createAccount(caller, 'admin')
  assert.equal((await post(caller, path, {}, key)).status, 200)
})

type RoleChange = (caller: Pick<Caller, 'request'>, target: Pick<Caller, 'username'>) => Promise<TestResponse>
const roleChanges: [name: string, first: RoleChange, second: RoleChange][] = [
  ['demote', demote, demote],
  ['revoke', revoke, revoke],
  ['demote and revoke', demote, revoke],
]
for (const [name, first, second] of roleChanges)
  test(`one of two admins who ${name} each other concurrently is rejected`, async () => {
    for (let round = 0; round < 5; round++) {
      const ann = await api.createService(settings)
      const bob = await api.createAccount('admin', ann.service)
      const bobOnSecondServer = throughSecondServer(bob)
      await Promise.all([ann.get('/accounts'), bobOnSecondServer.request('/accounts')])
      const responses = await sendWhileLocked(() => [first(ann, bob), second(bobOnSecondServer, ann)])
      const winners = responses.filter(({ status }) => status === 200)
      assert.equal(winners.length, 1, `${responses.map(({ text }) => text)}`)
      for (const response of responses)
        if (response.status !== 200) assertProblem(response, 'last_admin', getBaseUrl(response))
      assert.equal(await countAdmins(responses[0]?.status === 200 ? ann : bob), 1)
    }
  })

/** Sends writes while the role table is locked, and releases the lock when all of them wait. Returns the responses. */
async function sendWhileLocked(send: () => Promise<TestResponse>[]) {
  const release = await holdLocks(api.db, 'lock table account_service in share mode')
  const pendingResponses = send()
  await waitForBlockedConnections(api, pendingResponses.length).finally(release)
  return Promise.all(pendingResponses)
}

test('one of ten admins stays admin if all resign concurrently', async () => {
  const first = await api.createService(settings)
  const all = [
    first,
    ...(await Promise.all(Array.from({ length: 9 }, () => api.createAccount('admin', first.service)))),
  ]
  const responses = await sendWhileLocked(() =>
    all.map((admin, i) => demote(i % 2 ? throughSecondServer(admin) : admin, admin)),
  )
  assert.equal(responses.filter(({ status }) => status === 200).length, 9)
  const [remaining = first] = all.filter((_, i) => responses[i]?.status === 409)
  assert.equal(await countAdmins(remaining), 1)
})

/** Returns the same caller, whose requests go to the second server. */
const throughSecondServer = (caller: Caller) => sendThrough(secondApi.sendRaw, caller)

const getBaseUrl = ({ json }: TestResponse) => String(json.type).replace(/\/errors\/.*/, '')
