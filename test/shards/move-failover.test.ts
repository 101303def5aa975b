import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildDatabaseUrl, startStandby } from '../../scenarios/support/standby.ts'
import { openDatabase, raw } from '../../src/database/db.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createDirectory, isHalted, runCommand, startCommand, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'

const home = createDirectory()
const servers: Postgres[] = []
let primary: Postgres
let standby: Postgres
let shop: ShardedInstallation
let luma: Caller

const startServer = async (name: string) => {
  const settings = { fsync: 'off', max_connections: '60', shared_buffers: '16MB' }
  const postgres = await startPostgres(join(home, name), { settings, restartDelaysMs: [] })
  servers.push(postgres)
  return postgres
}

async function querySql(server: Postgres, statement: string) {
  const db = openDatabase(server.connection, { max: 1, acceptStandby: true, onFault: () => {} })
  return db.rows<Record<string, unknown>>(raw(statement)).finally(() => db.close())
}

before(async () => {
  shop = await startShardedInstallation()
  primary = await startServer('east')
  const west = await startServer('west')
  const { database } = primary.connection
  await shop.addShard('west', buildDatabaseUrl([west], west.connection.database))
  standby = await startStandby(
    join(home, 'standby'),
    { directory: join(home, 'east'), postgres: primary },
    {
      fsync: 'off',
      max_connections: '60',
      shared_buffers: '16MB',
    },
  )
  servers.push(standby)
  await shop.addShard('east', buildDatabaseUrl([primary, standby], database))
  luma = createCaller(shop, await shop.createShardService('luma', 'east'))
  assert.equal((await post(luma, '/customers', buildCustomer(), withKey())).status, 201)
})
after(async () => {
  await shop?.stop()
  for (const server of servers) await server.stop()
})

test('a move whose source fails over is undone with a clear message', { timeout: 240_000 }, async () => {
  const mover = startCommand(['service', 'move', 'luma', '--to', 'west'], {
    ...shop.environment,
    FAILPOINT: 'service_copied:stop',
  })
  await waitUntil(() => isHalted(mover.pid), 'the service is copied', 60_000)
  assert.deepEqual(await querySql(primary, 'select failover from pg_replication_slots'), [{ failover: true }])
  const { length } = await querySql(primary, 'select from customer')
  await waitUntil(
    async () => (await querySql(standby, 'select from customer')).length === length,
    'the customers are replicated',
  )
  process.kill(primary.pid, 'SIGKILL')
  await primary.ended
  await querySql(standby, 'select pg_promote()')
  mover.child.kill('SIGCONT')
  const { code } = await mover.ended
  assert.equal(code, 1, mover.out)
  // A connection that breaks first is reported instead of the lost slot.
  assert.match(
    mover.err,
    /(has lost the replication slot of the move|The database is unavailable).*The move was undone\. luma is still served/,
  )
  await waitUntil(
    async () => {
      const doctor = await runCommand(['doctor', '--json'], shop.environment)
      const moves = JSON.parse(doctor.out).find(({ check }: { check: string }) => check === 'Moves')
      if (moves?.ok && !/luma moves/.test(moves.detail)) return true
      await runCommand(['service', 'move', 'luma', '--undo'], shop.environment)
      return false
    },
    'the move is undone',
    120_000,
  )
  await waitUntil(
    async () => (await post(luma, '/customers', buildCustomer(), withKey())).status === 201,
    'luma accepts writes in its source',
    60_000,
  )
  assert.deepEqual(await querySql(standby, 'select from pg_replication_slots'), [])
})
