import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listAbandonedMoves } from '../../src/store/moves/moves.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createDirectory, isHalted, runCommand, startCommand, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'
import { assertOnlyAt, createServers } from './servers.ts'

const servers = createServers(createDirectory())
let shop: ShardedInstallation
let luma: Caller
let customers = 0

before(async () => {
  shop = await startShardedInstallation()
  const urls = await Promise.all([servers.start('east'), servers.start('west')])
  await shop.addShard('east', urls[0])
  await shop.addShard('west', urls[1])
  luma = createCaller(shop, await shop.createShardService('luma', 'east', 'readsPerMinute=off', 'writesPerMinute=off'))
  await createCustomer()
})
after(async () => {
  await shop.stop()
  await servers.stop()
})

/** Creates a customer. Repeats the request until it succeeds. */
async function createCustomer() {
  const [body, key] = [buildCustomer(), withKey()]
  await waitUntil(
    async () => (await post(luma, '/customers', body, key)).status === 201,
    'the customer is created',
    30_000,
  )
  customers++
}

/** Asserts that the service is served with all created customers. */
async function assertServed() {
  const { status, json } = await luma.get('/customers/search?updated_after=2020-01-01%2000:00:00')
  assert.equal(status, 200)
  assert.equal(json.data.length, customers)
}

/** Starts a move that is killed or halted at a crash point. */
async function moveInterrupted(database: string, FAILPOINT: string) {
  const mover = startCommand(['service', 'move', 'luma', '--to', database], { ...shop.environment, FAILPOINT })
  if (!FAILPOINT.endsWith(':stop')) assert.equal((await mover.ended).signal, 'SIGKILL', mover.err)
  return mover
}

const runUndo = () => runCommand(['service', 'move', 'luma', '--undo'], shop.environment)

// Polls the database, because repeated commands would take most of the CPU time of this file.
const waitUntilAbandoned = () =>
  waitUntil(async () => (await listAbandonedMoves(shop.db)).length > 0, 'the lease of the move expires', 60_000)

/** Asserts that `doctor` reports the move: first in progress, then abandoned. */
async function assertMoveReported() {
  const readCheck = async () => {
    const { code, out } = await runCommand(['doctor', '--json'], shop.environment)
    assert.equal(code, 1)
    return JSON.parse(out).find(({ check }: { check: string }) => check === 'Moves') as { ok: boolean; detail: string }
  }
  const first = await readCheck()
  if (first.ok) assert.equal(first.detail, 'luma moves from east to west, in progress')
  await waitUntilAbandoned()
  const second = await readCheck()
  assert.ok(!second.ok)
  assert.match(second.detail, /luma moves from east to west, interrupted \d+ s ago\. .* --undo/)
}

/** Recovers the move after its lease has expired. Until then, the command is rejected. */
async function recoverMove() {
  const firstUndo = await runUndo()
  if (firstUndo.code === 0) return firstUndo.out
  assert.match(firstUndo.err, /Another process is moving luma/)
  await waitUntilAbandoned()
  const { code, out, err } = await runUndo()
  assert.equal(code, 0, err)
  return out
}

for (const crashPoint of ['service_copied', 'service_compared', 'service_drained', 'service_paused'])
  test(`a move killed at ${crashPoint} keeps the service where it was`, async () => {
    await moveInterrupted('west', crashPoint)
    await assertServed()
    await createCustomer()
    if (crashPoint === 'service_copied') await assertMoveReported()
    assert.match(await recoverMove(), /Interrupted move undone: luma stays in its previous shard/)
    await createCustomer()
    await assertServed()
    await assertOnlyAt(servers, 'east', 'west', luma.service)
  })

let [source, target] = ['east', 'west'] as [string, string]
for (const crashPoint of ['service_moved_away', 'service_switched', 'service_opened'])
  test(`a move killed at ${crashPoint} keeps reads and is finished afterwards`, async () => {
    await moveInterrupted(target, crashPoint)
    await assertServed()
    assert.match(await recoverMove(), /Interrupted move finished: luma is in/)
    ;[source, target] = [target, source]
    await createCustomer()
    await assertServed()
    await assertOnlyAt(servers, source, target, luma.service)
  })

test('a worker finishes a killed move automatically', async () => {
  await moveInterrupted(target, 'service_switched')
  const worker = startCommand(['worker'], { ...shop.environment, LOG_LEVEL: 'warn' })
  await createCustomer()
  ;[source, target] = [target, source]
  await waitUntil(
    async () => (await servers.query(target, 'select from service')).length === 0,
    'the old copy is deleted',
    60_000,
  )
  await assertServed()
  worker.child.kill()
  await worker.ended
  await delay(500)
  await assertOnlyAt(servers, source, target, luma.service)
})

test('a failure after the switch opens the service and cleans up', async () => {
  const { code, out, err } = await runCommand(['service', 'move', 'luma', '--to', target], {
    ...shop.environment,
    FAILPOINT: 'service_switched:fail',
  })
  assert.equal(code, 0, err)
  assert.match(out, new RegExp(`luma moved to ${target}\\..*\nOld copy of luma deleted\\.`))
  ;[source, target] = [target, source]
  await createCustomer()
  await assertServed()
  await assertOnlyAt(servers, source, target, luma.service)
})

test('a command failing after the switch names location and cleanup', async () => {
  const { code, err } = await runCommand(['service', 'move', 'luma', '--to', target], {
    ...shop.environment,
    FAILPOINT: 'service_opened:fail',
  })
  assert.equal(code, 1)
  assert.match(err, new RegExp(`Failpoint .* luma is served from ${target} now\\. .*--undo`))
  assert.doesNotMatch(err, /undone/)
  ;[source, target] = [target, source]
  await createCustomer()
  assert.match(await recoverMove(), /Interrupted move finished: luma is in/)
  await assertServed()
  await assertOnlyAt(servers, source, target, luma.service)
})

test('a killed target leaves no replication slot at the source', async () => {
  for (const text of [
    'create function block_inserts() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return new; end $$',
    'create trigger block_inserts before insert on customer for each row execute function block_inserts()',
    'alter table customer enable always trigger block_inserts',
  ])
    await servers.query(target, text)
  const mover = startCommand(['service', 'move', 'luma', '--to', target], shop.environment)
  const listCopySlots = () =>
    servers.query(source, `select from pg_replication_slots where slot_name ~ '^pg_[0-9]+_sync_'`)
  await waitUntil(async () => (await listCopySlots()).length > 0, 'a table is being copied', 60_000)
  await servers.kill(target)
  assert.equal((await mover.ended).code, 1)
  assert.match(mover.err, /still served from the source/)
  assert.deepEqual(await servers.query(source, 'select slot_name from pg_replication_slots'), [])
  await createCustomer()
  await shop.addShard(target, await servers.start(target))
  for (const object of ['trigger block_inserts on customer', 'function block_inserts'])
    await servers.query(target, `drop ${object}`)
  await recoverMove()
  await assertServed()
  await assertOnlyAt(servers, source, target, luma.service)
})

test('a killed target is cleaned up once it is back', async () => {
  const mover = await moveInterrupted(target, 'service_drained:stop')
  // If this process had not halted yet, the next one would wait forever.
  await waitUntil(() => isHalted(mover.child.pid), 'the move halts', 60_000)
  await servers.kill(target)
  mover.child.kill('SIGCONT')
  assert.equal((await mover.ended).code, 1)
  assert.match(mover.err, /still served from the source/)
  assert.deepEqual(
    await servers.query(source, 'select from pg_replication_slots'),
    [],
    'no WAL may be kept for the killed target',
  )
  await createCustomer()
  await assertServed()
  await waitUntilAbandoned()
  assert.match((await runUndo()).err, /The partial copy there is deleted once that shard is back\. luma is served/)
  await shop.addShard(target, await servers.start(target))
  await recoverMove()
  await assertServed()
  await assertOnlyAt(servers, source, target, luma.service)
  await shop.moveService('luma', target)
  ;[source, target] = [target, source]
  await assertServed()
  await assertOnlyAt(servers, source, target, luma.service)
})
