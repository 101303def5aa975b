import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDemoShop } from '../../seed/shop.ts'
import { installed, installedWithAccess } from '../support/installations/installations.ts'
import {
  ask,
  begin,
  databaseOf,
  directory,
  done,
  postgresOf,
  readAccess,
  serve,
  stop,
  until,
} from '../support/processes.ts'

test('a start after kill -9 keeps all data', async () => {
  const environment = { DATA_DIR: join(directory(), 'data') }
  const access = await installedWithAccess(environment)
  const killed = await serve(['--no-demo'], environment)
  assert.equal((await ask(killed, '/stores', access)).status, 200)
  assert.deepEqual(await stop(killed, 'SIGKILL'), { code: null, signal: 'SIGKILL' })
  const service = await serve(['--no-demo'], environment)
  assert.equal((await ask(service, '/stores', access)).status, 200)
  assert.deepEqual(await stop(service), { code: 0, signal: null })
})

test('a command after kill -9 needs no start', async () => {
  const environment = { DATA_DIR: join(directory(), 'data') }
  const killed = await serve(['--no-demo'], await installed(environment))
  await done(['service', 'add', 'luma'], environment)
  await stop(killed, 'SIGKILL')
  assert.match(await done(['service', 'list'], environment), /^luma /m)
})

test('a demo killed during creation is completed by the next start', async () => {
  const environment = { DATA_DIR: join(directory(), 'data'), PORT: '0' }
  for (const moment of ['Customers: ', 'Reward accounts: ']) {
    const killed = begin(['start'], environment)
    await until(() => killed.out.includes(moment), moment, 30_000)
    await stop(killed, 'SIGKILL')
    assert.doesNotMatch(killed.out, /serves/)
  }
  const service = await serve([], environment)
  const access = readAccess(environment.DATA_DIR)
  assert.equal((await ask(access, '/customers/search', access)).status, 200)
  const database = await databaseOf(environment.DATA_DIR)
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
  await stop(service)
})

test('requests return 503 during a PostgreSQL outage and recover', async t => {
  const environment = { DATA_DIR: join(directory(), 'data') }
  const access = await installedWithAccess(environment)
  const service = await serve(['--no-demo'], environment)
  assert.equal((await ask(service, '/customers/search', access)).status, 200)
  const before = postgresOf(environment.DATA_DIR) ?? 0
  process.kill(before, 'SIGKILL')
  const killedAt = performance.now()
  const seen: number[] = []
  await until(async () => {
    const answer = await ask(service, '/customers/search', access)
    seen.push(answer.status)
    if (answer.status === 503) {
      assert.equal(answer.json.code, 'service_unavailable')
      assert.match(answer.headers['retry-after'], /^\d+$/)
      const ready = await ask(service, '/health/ready')
      assert.ok([200, 503].includes(ready.status))
      assert.equal((await ask(service, '/health/live')).status, 200)
    }
    return answer.status === 200 && seen.includes(503)
  }, 'it answers again')
  t.diagnostic(`answers again ${Math.round(performance.now() - killedAt)} ms after kill -9 of PostgreSQL`)
  assert.deepEqual(
    [...new Set(seen)].filter(status => status !== 200 && status !== 503),
    [],
  )
  assert.notEqual(postgresOf(environment.DATA_DIR), before)
  assert.deepEqual(await stop(service), { code: 0, signal: null })
})
