import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startSimulator } from '../../simulator/simulator.ts'
import { install } from '../support/installations/installations.ts'
import {
  createDirectory,
  type Environment,
  killGroup,
  pickPort,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
  withOccupiedPort,
} from '../support/processes.ts'

const createEnvironment = (): Environment & { DATA_DIR: string } => ({ DATA_DIR: join(createDirectory(), 'data') })

for (const [title, settings] of [
  ['a port that is taken', (PORT: string) => ({ PORT })],
  ['a port that is taken, with several processes', (PORT: string) => ({ PORT, WEB_CONCURRENCY: '2' })],
  ['a port for plain HTTP that is taken', (PLAIN_PORT: string) => ({ PORT: '0', PLAIN_PORT })],
  ['a port for metrics that is taken', (METRICS_PORT: string) => ({ PORT: '0', METRICS_PORT })],
] as const)
  test(`a first start on ${title} creates nothing`, async () => {
    // The other errors don't depend on an empty data directory.
    const environment = title === 'a port that is taken' ? createEnvironment() : await install(createEnvironment())
    await withOccupiedPort(async port => {
      const { code, out } = await runCommand(['start'], { ...environment, ...settings(port) })
      assert.equal(code, 1)
      assert.doesNotMatch(out, /demo/)
    })
    assert.ok(!fs.existsSync(join(environment.DATA_DIR, 'access.json')))
    assert.doesNotMatch(await runSuccessfully(['service', 'list'], environment), /demo/)
    assert.doesNotMatch(await runSuccessfully(['account', 'list'], environment), /demo/)
  })

test('the server is not ready while several processes create the shop', async () => {
  const environment = { ...createEnvironment(), WEB_CONCURRENCY: '2', PORT: pickPort() }
  const caFile = join(environment.DATA_DIR, 'tls/ca.pem')
  const endpoint = { baseUrl: `https://localhost:${environment.PORT}`, caFile }
  const command = startCommand(['start'], environment)
  await waitUntil(() => command.out.includes('creating a demo shop'), 'the demo shop is being created', 30_000)
  const readiness = await sendGet(endpoint, '/health/ready')
  assert.equal(readiness.status, 503)
  assert.ok(readiness.headers['retry-after'])
  assert.equal((await sendGet(endpoint, '/health/live')).status, 200)
  // Doesn't wait for the shop, which takes most of the CPU time and which start.test.ts covers.
  killGroup(command)
  await command.ended
})

test('start and doctor report lost back office settings', async () => {
  const simulator = await startSimulator({ sizes: { persons: 3 } })
  const environment = await install(createEnvironment())
  const settings = {
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: simulator.url,
    BACK_OFFICE_COUNTRY: 'AU',
    BACK_OFFICE_TIME_ZONE: 'Australia/Melbourne',
  }
  const missing =
    /Service shop was synced from apparel21.*BACK_OFFICE, BACK_OFFICE_URL and BACK_OFFICE_COUNTRY.*tillbridge back-office set shop driver=embedded/
  try {
    const withoutTimeZone = await runCommand(['start'], { ...environment, ...settings, BACK_OFFICE_TIME_ZONE: '' })
    assert.equal(withoutTimeZone.code, 1)
    assert.match(withoutTimeZone.err, /BACK_OFFICE_TIME_ZONE must be set before the first start/)
    const first = await serve([], { ...environment, ...settings, RUN_JOBS: 'false' })
    assert.equal(first.err, '')
    await stopServer(first)

    const withoutSettings = await serve([], environment)
    const [line = ''] = withoutSettings.err.split('\n').filter(text => text.includes('BACK_OFFICE'))
    assert.equal(JSON.parse(line).level, 40, withoutSettings.err)
    assert.match(JSON.parse(line).msg, missing)
    assert.doesNotMatch(line, /RetailAPI/)
    const { code, out } = await runCommand(['doctor'], environment)
    assert.equal(code, 1)
    assert.match(out, new RegExp(`^FAIL {2}Back office +${missing.source}`, 'm'))
    await stopServer(withoutSettings)

    const restarted = await serve([], { ...environment, ...settings })
    assert.doesNotMatch(restarted.err, /BACK_OFFICE/)
    await stopServer(restarted)
    await runSuccessfully(['back-office', 'set', 'shop', 'driver=embedded'], environment)
    const withEmbedded = await serve([], environment)
    assert.doesNotMatch(withEmbedded.err, /BACK_OFFICE/)
    assert.doesNotMatch(withEmbedded.out, /create a service/)
    await stopServer(withEmbedded)
  } finally {
    await simulator.close()
  }
})
