import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildDatabaseUrl } from '../../scenarios/support/standby.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { assertProblem } from '../support/problem.ts'
import { createDirectory, pickPort, runCommand, sendGet, serve, waitUntil } from '../support/processes.ts'
import { buildCredentials, startSecondServer } from '../support/servers.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'

const home = createDirectory()
const servers = new Map<string, Postgres>()
let shop: ShardedInstallation
let luma: Caller
let nova: Caller

/** Starts a server. It stays down once it is killed. */
async function startServer(name: string) {
  const settings = { fsync: 'off', max_connections: '40', shared_buffers: '16MB' }
  const postgres = await startPostgres(join(home, name), { settings, restartDelaysMs: [] })
  servers.set(name, postgres)
  return buildDatabaseUrl([postgres], postgres.connection.database)
}

before(async () => {
  shop = await startShardedInstallation()
  const urls = await Promise.all([startServer('east'), startServer('west')])
  await shop.addShard('east', urls[0])
  await shop.addShard('west', urls[1])
  luma = createCaller(shop, await shop.createShardService('luma', 'east'))
  nova = createCaller(shop, await shop.createShardService('nova', 'west'))
  for (const retailer of [luma, nova])
    assert.equal((await post(retailer, '/customers', buildCustomer(), withKey())).status, 201)
})
after(async () => {
  await shop.stop()
  for (const server of servers.values()) await server.stop()
})

test("a dead server's services return 503 while others continue", async () => {
  const west = servers.get('west')
  process.kill(west?.pid ?? 0, 'SIGKILL')
  await west?.ended
  await waitUntil(async () => (await nova.get('/stores')).status === 503, 'the shard is unavailable', 30_000)
  for (const response of [await nova.get('/stores'), await post(nova, '/customers', buildCustomer(), withKey())]) {
    assertProblem(response, 'service_unavailable', shop.baseUrl)
    assert.ok(Number(response.headers['retry-after']) > 0)
  }
  for (const retailer of [luma, shop])
    assert.equal((await post(retailer, '/customers', buildCustomer(), withKey())).status, 201)
  assert.equal((await shop.sendRaw('/health/ready')).status, 200)
})

test('a process started during the outage does not wait and exposes it', async () => {
  const port = pickPort()
  const data = { DATA_DIR: join(home, 'data') }
  const server = await serve(['--no-demo'], { ...shop.environment, ...data, METRICS_PORT: port, LOG_LEVEL: 'error' })
  const access = { ...luma, serviceName: 'luma' }
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  assert.equal((await sendGet(server, '/stores', { ...nova, serviceName: 'nova' })).status, 503)
  const readMetrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  assert.match(await readMetrics(), /^tillbridge_shard_up\{shard="east"\} 1$/m)
  assert.match(await readMetrics(), /^tillbridge_shard_up\{shard="west"\} 0$/m)
  const idleReadConnections = /^tillbridge_database_connections\{pool="east reads",state="idle"\} [1-9]/m
  await waitUntil(async () => idleReadConnections.test(await readMetrics()), 'a connection for reads is idle')
  assert.doesNotMatch(server.err, /postgres:\/\//, 'the log must not contain a URL')
  server.child.kill()
  await server.ended
})

test('commands for other services continue and global ones name the shard', async () => {
  assert.match(await shop.runSuccessfully('service', 'set', 'luma', 'currency=AUD'), /currency = AUD/)
  for (const args of [['shard', 'list'], ['service', 'list'], ['alert', 'list'], ['doctor']]) {
    const { code, out, err } = await runCommand(args, shop.environment)
    assert.equal(code, 1)
    assert.match(`${out}${err}`, /Shard west: The database is unreachable/)
  }
})

test('a recovered shard serves again without restart, even elsewhere', async () => {
  const other = await startSecondServer(shop)
  try {
    assert.equal((await other.sendRequest('/stores', { headers: buildCredentials(nova) })).status, 503)
    await shop.addShard('west', await startServer('west'))
    const searchCustomers = () => nova.get('/customers/search?updated_after=2020-01-01%2000:00:00')
    await waitUntil(async () => (await searchCustomers()).status === 200, 'the service is served again', 30_000)
    assert.equal((await searchCustomers()).json.data.length, 1)
    const isServedByOther = async () =>
      (await other.sendRequest('/stores', { headers: buildCredentials(nova) })).status === 200
    await waitUntil(isServedByOther, 'the other process serves it too', 30_000)
  } finally {
    await other.stop()
  }
})
