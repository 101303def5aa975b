import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { basicAuth, buildCredentials, captureLog, startSecondServer } from '../support/servers.ts'
import { startTestApi } from '../support/service.ts'

const api = await startTestApi()
after(() => api.stop())
const captured = captureLog('info')
const server = await startSecondServer(api, { log: captured.log, environment: { TRUSTED_PROXIES: '127.0.0.1' } })
after(() => server.stop())

const own = Object.assign(buildCredentials(api), { 'x-forwarded-proto': 'https' })
const lines = () =>
  captured.text
    .split('\n')
    .filter(line => line.includes('"msg":"request"'))
    .map(line => JSON.parse(line))

test('a key misused on another service or HTTP is always logged', async () => {
  const other = await api.createService()
  await server.ask('/stores', { headers: own })
  const foreign = await server.ask('/stores', { headers: { ...own, 'x-service-name': other.service.name } })
  const plain = await server.ask('/stores', { headers: { ...own, 'x-forwarded-proto': 'http' } })
  assert.deepEqual([foreign.status, plain.status], [403, 403])
  assert.deepEqual(
    lines().map(({ level, requestId, code, account }) => [level, requestId, code, account]),
    [
      [30, foreign.headers['x-request-id'], 'service_not_assigned', api.username],
      [30, plain.headers['x-request-id'], 'https_required', undefined],
    ],
  )
  assert.doesNotMatch(captured.text, new RegExp(other.service.name))
})

test('wrong passwords are logged at a limited rate without usernames', async () => {
  captured.clear()
  for (let i = 0; i < 25; i++)
    await server.ask('/stores', { headers: { ...own, authorization: basicAuth(`somebody${i}:wrong`) } })
  assert.deepEqual(
    lines().map(({ code }) => code),
    Array(20).fill('invalid_credentials'),
  )
  assert.doesNotMatch(captured.text, /somebody|wrong/)
})
