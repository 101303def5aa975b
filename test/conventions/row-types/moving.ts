import assert from 'node:assert/strict'
import { join } from 'node:path'
import { buildDatabaseUrl } from '../../../scenarios/support/standby.ts'
import { openDatabase, sql } from '../../../src/database/db.ts'
import { startPostgres } from '../../../src/postgres/postgres.ts'
import { requireMovable } from '../../../src/runtime/shards/moves/requirements.ts'
import { waitForWriteLocks } from '../../../src/store/lists/wait-for-writers.ts'
import { captureChangedKeys, readChangedKeys } from '../../../src/store/moves/changed-keys.ts'
import { reachListTime } from '../../../src/store/moves/clocks.ts'
import * as comparing from '../../../src/store/moves/compare-table.ts'
import * as moves from '../../../src/store/moves/moves.ts'
import * as pausing from '../../../src/store/moves/pause-writes.ts'
import * as replication from '../../../src/store/moves/replication.ts'
import { copyRemainingRows, copyRequestLog } from '../../../src/store/moves/request-log-copy.ts'
import { addService, listAllServices, listServices, readCurrentShard } from '../../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../../support/database.ts'
import { createDirectory } from '../../support/processes.ts'
import type { TestApi } from '../../support/service.ts'

/** Pauses the writes of a service, compares it and switches its shard. Source and target are the same database, so nothing is replicated. */
export async function tourMove(api: TestApi) {
  const { db } = api
  const moving = await addService(db, 'toured-move')
  assert.ok(moving && (await listServices(db)).length > 0 && (await listAllServices(db)).length > 0)
  const begunMove = await moves.beginMove(db, moving, 'toured')
  assert.ok(begunMove && (await moves.findMove(db, moving.id)))
  await db.run(
    sql`update service_move set heartbeat_at = heartbeat_at - interval '1 day' where service_id = ${moving.id}`,
  )
  const [abandoned] = await moves.listAbandonedMoves(db)
  assert.ok(abandoned && abandoned.target !== null)
  assert.ok((await moves.listMoves(db)).some(({ isDead }) => isDead))
  const move = await moves.takeOverMove<string>(db, { ...abandoned, target: abandoned.target })
  assert.ok(move && (await moves.readMoveState(db, move)) === 'copying')

  const { id } = api.service
  const tables = await replication.listMovedTables(db)
  await comparing.countRows(db, { serviceId: id }, tables)
  const [stores] = await comparing.loadTables(db, ['store'])
  assert.ok(stores)
  const empty = await createTestDatabase()
  const databases = { source: db, target: empty.db }
  const keys = await comparing.findDifferences(databases, { serviceId: id }, stores)
  assert.ok(keys.size > 0)
  await comparing.removeEqual(databases, stores, keys)
  assert.ok(keys.size > 0)
  await empty.drop()
  const name = await replication.getMoveName(db, move)
  await replication.readCopyProgress(db, name, new Map())
  await replication.waitUntilCaughtUp({ source: db, target: db }, name, AbortSignal.abort()).catch(() => {})
  await moves.recordCopySlots(db, move, 'pg_toured_sync')
  await replication.unpublish(db, name, await moves.findCopySlots(db, move))
  await pausing.listRunningImports(db, { serviceId: id })
  await pausing.countRunningJobs(db, { serviceId: id })
  await pausing.startDraining(db, move)
  const until = await pausing.pauseWrites(db, move, 2_000)
  assert.ok(until)
  await db.transaction(async tx => {
    await tx.run(sql`select next_change_timestamp(${id}, null)`)
    await waitForWriteLocks(db, { id }, AbortSignal.timeout(100)).catch(() => {})
  })
  await reachListTime(db, '2000-01-01T00:00:00Z')
  const databasePair = { source: db, target: db }
  await copyRemainingRows(databasePair, { ...move, serviceId: id })
  await copyRequestLog(databasePair, { ...move, serviceId: id }, AbortSignal.timeout(60_000))
  await assert.rejects(
    requireMovable({ db, label: 'one' }, { db, label: 'the other' }),
    /has wal_level = (minimal|replica)/,
  )
  assert.ok(await moves.switchFromControl(db, move, until))
  assert.ok((await moves.getMsSinceSwitch(db, move)) >= 0 && (await moves.findSwitchTime(db, move)))
  assert.equal(await readCurrentShard(db, moving.id), 'toured')
  await moves.endMove(db, move)
}

/** Starts a server with logical WAL. Checks the names of replication slots and the keys of changed rows. */
export async function tourChangedKeys() {
  const home = createDirectory()
  const server = await startPostgres(join(home, 'postgres'), { settings: { shared_buffers: '16MB' } })
  const db = openDatabase(buildDatabaseUrl([server], server.connection.database), { max: 1 })
  try {
    await db.run(sql`create table store (service_id integer, store_id text, primary key (service_id, store_id))`)
    const tables = await comparing.loadTables(db, ['store'])
    await captureChangedKeys(db, 'toured', { serviceId: 7 }, tables)
    await db.run(sql`insert into store values (7, 'a'), (8, 'b')`)
    await db.run(sql`update store set store_id = 'c' where service_id = 7`)
    const keys = new Map([['store', new Set<string>()]])
    await readChangedKeys(db, 'toured', 'FFFFFFFF/0', keys)
    assert.deepEqual([...(keys.get('store') ?? [])].toSorted(), ['["7","a"]', '["7","c"]'])
    await db.run(sql`create subscription toured connection 'host=nowhere' publication toured with (connect = false)`)
    assert.match(await replication.readCopySlots(db, 'toured'), /^\^pg_\d+_sync_/)
    assert.equal(await replication.countApplyErrors(db, 'toured'), 0)
  } finally {
    await db.close()
    await server.stop()
  }
}
