import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startSimulator } from '../../../simulator/simulator.ts'
import {
  connectToDatabase,
  createDirectory,
  type Environment,
  runSuccessfully,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../../support/processes.ts'
import {
  countRows,
  findStocked,
  loadFreeStock,
  type SyncFixture,
  sizes,
  startSyncFixtureFor,
  timeZone,
} from './sync-fixture.ts'

test('a killed run can be repeated without harm', async t => {
  const [plain, killed] = [await startSyncFixtureFor(t), await startSyncFixtureFor(t)]
  await plain.syncAll()
  killed.simulator.faults.add({ kind: 'latency', seconds: 0.1 })
  const connection = { url: killed.simulator.url, countryCode: 'AU', timeZone, limits: { pageRows: 10 } }
  const input = { database: killed.shop.connection, service: killed.service, connection }
  const program = fileURLToPath(new URL('sync-all.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(input)], { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  while (!(await countRows(killed, 'customer')) && child.exitCode === null) await delay(20)
  child.kill('SIGKILL')
  const [, signal] = await exited
  assert.equal(signal, 'SIGKILL')
  assert.ok((await countRows(killed, 'customer')) < sizes.persons)
  killed.simulator.faults.clear()
  await killed.shop.queryRows(
    `update sync_state set heartbeat_at = now() - interval '2 minutes' where heartbeat_at is not null`,
  )
  await killed.syncAll()
  for (const table of ['store', 'product', 'customer', 'retail_transaction', 'reward_account', 'reward_lot'])
    assert.deepEqual([table, await countRows(killed, table)], [table, await countRows(plain, table)])
  for (const { skuId, storeId, quantity } of findStocked(killed))
    assert.equal(await loadFreeStock(skuId, storeId, killed), quantity)
  const listRecords = ({ shop }: SyncFixture) =>
    shop.queryRows(`select left(record, -43) as said from customer order by id`)
  assert.deepEqual(await listRecords(killed), await listRecords(plain))
})

test('another worker takes over a killed sync and finishes it', async t => {
  const simulator = await startSimulator({ sizes: { persons: 5 } })
  t.after(() => simulator.close())
  const environment: Environment = {
    DATA_DIR: join(createDirectory(), 'data'),
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: simulator.url,
    BACK_OFFICE_COUNTRY: 'AU',
  }
  simulator.faults.add({ kind: 'hang', path: '/Stores' })
  const server = await serve(['--no-demo'], { ...environment, RUN_JOBS: 'false' })
  t.after(() => stopServer(server))
  await runSuccessfully(['service', 'add', 'luma', 'currency=AUD'], environment)
  const client = await connectToDatabase(environment.DATA_DIR ?? '')
  t.after(() => client.end())
  const getState = async () => {
    const { rows } = await client.query(
      `select heartbeat_at is not null as held, finished_at is not null as finished from sync_state where sync = 'stores'`,
    )
    return rows[0]
  }
  const victim = startCommand(['worker'], { ...environment, LOG_LEVEL: 'warn' })
  await waitUntil(async () => (await getState())?.held, 'the victim runs the sync', 30_000)
  victim.child.kill('SIGKILL')
  await victim.ended
  simulator.faults.clear()
  assert.deepEqual(await getState(), { held: true, finished: false })
  // As if the job's lease and the sync's lease had expired.
  await client.query(`update job set leased_until = now() - interval '1 s', due_at = now()`)
  await client.query(`update sync_state set heartbeat_at = heartbeat_at - interval '61 s'`)
  const next = startCommand(['worker'], { ...environment, LOG_LEVEL: 'warn' })
  await waitUntil(async () => (await getState())?.finished, 'the next worker finishes the sync', 30_000)
  assert.deepEqual(await stopServer(next), { code: 0, signal: null }, next.err)
  assert.equal((await client.query('select count(*)::integer as n from store')).rows[0].n, 10)
})
