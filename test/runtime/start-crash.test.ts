import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDemoShop } from '../../seed/shop.ts'
import { install, installWithAccess } from '../support/installations/installations.ts'
import {
  connectToDatabase,
  createDirectory,
  findPostgresPid,
  readAccess,
  runSuccessfully,
  sendGet,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

test('a start after kill -9 keeps all data', async () => {
  const environment = { DATA_DIR: join(createDirectory(), 'data') }
  const access = await installWithAccess(environment)
  const killed = await serve(['--no-demo'], environment)
  assert.equal((await sendGet(killed, '/stores', access)).status, 200)
  assert.deepEqual(await stopServer(killed, 'SIGKILL'), { code: null, signal: 'SIGKILL' })
  const server = await serve(['--no-demo'], environment)
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
})

test('a command after kill -9 needs no start', async () => {
  const environment = { DATA_DIR: join(createDirectory(), 'data') }
  const killed = await serve(['--no-demo'], await install(environment))
  await runSuccessfully(['service', 'add', 'luma'], environment)
  await stopServer(killed, 'SIGKILL')
  assert.match(await runSuccessfully(['service', 'list'], environment), /^luma /m)
})

test('a demo killed during creation is completed by the next start', async () => {
  const environment = { DATA_DIR: join(createDirectory(), 'data'), PORT: '0' }
  for (const stage of ['Customers: ', 'Reward accounts: ']) {
    const killed = startCommand(['start'], environment)
    await waitUntil(() => killed.out.includes(stage), stage, 30_000)
    await stopServer(killed, 'SIGKILL')
    assert.doesNotMatch(killed.out, /serves/)
  }
  const server = await serve([], environment)
  const access = readAccess(environment.DATA_DIR)
  assert.equal((await sendGet(access, '/customers/search', access)).status, 200)
  const database = await connectToDatabase(environment.DATA_DIR)
  const count = async (table: string) => Number((await database.query(`select count(*) from ${table}`)).rows[0].count)
  const shop = makeDemoShop()
  const sales = new Set(shop.transactions.map(({ header }) => header.id))
  assert.deepEqual((await database.query('select name from service')).rows, [{ name: 'demo' }])
  assert.deepEqual((await database.query('select username from account')).rows, [{ username: 'demo' }])
  for (const [table, rows] of [
    ['store', shop.stores.length],
    ['customer', shop.customers.length],
    ['retail_transaction', sales.size],
    ['stock', shop.stock.length],
    ['reward_account', shop.rewards.accounts.length],
    ['reward_lot', shop.rewards.lots.length],
    ['account_password', 1],
  ] as const)
    assert.equal(await count(table), rows, table)
  await database.end()
  await stopServer(server)
})

test('requests return 503 during a PostgreSQL outage and recover', async t => {
  const environment = { DATA_DIR: join(createDirectory(), 'data') }
  const access = await installWithAccess(environment)
  const server = await serve(['--no-demo'], environment)
  assert.equal((await sendGet(server, '/customers/search', access)).status, 200)
  const postgresPid = findPostgresPid(environment.DATA_DIR) ?? 0
  process.kill(postgresPid, 'SIGKILL')
  const killedAt = performance.now()
  const statuses: number[] = []
  await waitUntil(async () => {
    const response = await sendGet(server, '/customers/search', access)
    statuses.push(response.status)
    if (response.status === 503) {
      assert.equal(response.json.code, 'service_unavailable')
      assert.match(response.headers['retry-after'], /^\d+$/)
      const ready = await sendGet(server, '/health/ready')
      assert.ok([200, 503].includes(ready.status))
      assert.equal((await sendGet(server, '/health/live')).status, 200)
    }
    return response.status === 200 && statuses.includes(503)
  }, 'requests succeed again')
  t.diagnostic(`requests succeed again ${Math.round(performance.now() - killedAt)} ms after kill -9 of PostgreSQL`)
  assert.deepEqual(
    [...new Set(statuses)].filter(status => status !== 200 && status !== 503),
    [],
  )
  assert.notEqual(findPostgresPid(environment.DATA_DIR), postgresPid)
  assert.deepEqual(await stopServer(server), { code: 0, signal: null })
})
