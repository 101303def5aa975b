import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { includesRole } from '../../../src/domain/accounts.ts'
import { isConsoleOperation } from '../../../src/http/routing/operation.ts'
import { routes } from '../../../src/resources/resources.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { fillWithCanaries, toCanaryPath } from './canaries.ts'

// Routes that only the console uses are not in the OpenAPI document, so the tests of documented operations don't reach them.

const operations = routes.map(({ operation }) => operation).filter(isConsoleOperation)
const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const other = await api.createService({ readsPerMinute: 'off' })
await fillWithCanaries(api, other, 'canary-')

/** Requests a route for the record with this ID. */
function send({ method, path }: (typeof operations)[number], caller: Pick<Caller, 'request'>, id: string) {
  const body = method === 'GET' ? {} : { headers: { 'content-type': 'application/json' }, body: '{}' }
  return caller.request(toCanaryPath(path.replace(/:(\w+)/g, '{$1}'), id), { method, ...body })
}

test('console routes require credentials and their role', async () => {
  assert.ok(operations.length >= 7, `${operations.length} routes`)
  for (const role of ['visitor', 'maintainer', 'admin'] as const) {
    const caller = await api.createAccount(role)
    for (const operation of operations) {
      const { status, json } = await send(operation, caller, 'no-such-id')
      const isRejected = status === 403 && json.code === 'insufficient_role'
      assert.equal(isRejected, !includesRole(role, operation.role), `${role}: ${operation.operationId}`)
    }
  }
  for (const operation of operations) {
    const response = await send(operation, { request: api.sendRaw }, 'no-such-id')
    assert.equal(response.status, 401, operation.operationId)
  }
})

test("console routes don't reach records of another service", async () => {
  assert.equal((await other.get('/console/webhooks/canary-id')).status, 200)
  // Lists come first: the request log has the paths of the other requests.
  for (const operation of operations.filter(({ path, method }) => method === 'GET' && !path.includes(':')))
    assert.doesNotMatch((await send(operation, api, '')).text, /canary-/, operation.operationId)
  for (const operation of operations.filter(({ path }) => path.includes(':'))) {
    const foreign = await send(operation, api, 'canary-id')
    assertProblem(foreign, 'not_found', api.baseUrl, foreign.json.instance)
  }
})
