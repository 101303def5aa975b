import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { installWithAccess } from '../support/installations/installations.ts'
import {
  createDirectory,
  createServiceAccess,
  pickPort,
  type RunningServer,
  sendGet,
  serve,
  stopServer,
} from '../support/processes.ts'

const port = pickPort()
const environment = { DATA_DIR: join(createDirectory(), 'data'), METRICS_PORT: port, METRICS_MAX_SERVICES: '1' }
let server: RunningServer
let first: Awaited<ReturnType<typeof installWithAccess>>
let second: Awaited<ReturnType<typeof installWithAccess>>
before(async () => {
  first = await installWithAccess(environment)
  second = await createServiceAccess(environment, 'second')
  server = await serve(['--no-demo'], environment)
})
after(() => stopServer(server))

test('METRICS_MAX_SERVICES labels requests by service, up to its limit', async () => {
  for (const access of [first, first, second]) assert.equal((await sendGet(server, '/stores', access)).status, 200)
  assert.equal((await sendGet(server, '/stores', { ...first, serviceName: 'canary' })).status, 403)
  assert.equal((await sendGet(server, '/stores')).status, 401)
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const findCounts = (prefix: string) =>
    text.split('\n').flatMap(line => (line.startsWith(prefix) ? [line.slice(prefix.length)] : []))
  assert.deepEqual(findCounts('tillbridge_http_requests_total{route="/stores",method="GET",'), [
    `status="200",service="${first.serviceName}"} 2`,
    'status="200",service="_OTHER"} 1',
    'status="403"} 1',
    'status="401"} 1',
  ])
  assert.deepEqual(findCounts('tillbridge_http_request_duration_seconds_count{route="/stores",method="GET"'), [
    `,service="${first.serviceName}"} 2`,
    ',service="_OTHER"} 1',
    '} 2',
  ])
  assert.doesNotMatch(text, /canary/)
})
