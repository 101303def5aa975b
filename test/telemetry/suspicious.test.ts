import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildBasicAuth, buildCredentials, captureLog, startSecondServer } from '../support/servers.ts'
import { startTestApi } from '../support/service.ts'

const api = await startTestApi()
after(() => api.stop())
const captured = captureLog('info')
const server = await startSecondServer(api, { log: captured.log, environment: { TRUSTED_PROXIES: '127.0.0.1' } })
after(() => server.stop())

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const ownHeaders = Object.assign(buildCredentials(api), { 'x-forwarded-proto': 'https' })
const listLines = () =>
  captured.text
    .split('\n')
    .filter(line => line.includes('"msg":"request"'))
    .map(line => JSON.parse(line))

test('a key misused on another service or HTTP is always logged', async () => {
  const other = await api.createService()
  await server.sendRequest('/stores', { headers: ownHeaders })
  const foreign = await server.sendRequest('/stores', {
    headers: { ...ownHeaders, 'x-service-name': other.service.name, traceparent },
  })
  const plain = await server.sendRequest('/stores', { headers: { ...ownHeaders, 'x-forwarded-proto': 'http' } })
  assert.deepEqual([foreign.status, plain.status], [403, 403])
  assert.deepEqual(
    listLines().map(({ level, requestId, account, ...line }) => [level, requestId, line['error.type'], account]),
    [
      [30, foreign.headers['x-request-id'], 'service_not_assigned', api.username],
      [30, plain.headers['x-request-id'], 'https_required', undefined],
    ],
  )
  assert.deepEqual(
    listLines().map(line => [line.trace_id, line.span_id]),
    [
      ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'],
      [undefined, undefined],
    ],
  )
  assert.doesNotMatch(captured.text, new RegExp(other.service.name))
})

test('wrong passwords are logged at a limited rate without usernames', async () => {
  captured.clear()
  for (let i = 0; i < 25; i++)
    await server.sendRequest('/stores', {
      headers: { ...ownHeaders, authorization: buildBasicAuth(`somebody${i}:wrong`) },
    })
  assert.deepEqual(
    listLines().map(line => line['error.type']),
    Array(20).fill('invalid_credentials'),
  )
  assert.doesNotMatch(captured.text, /somebody|wrong/)
})
