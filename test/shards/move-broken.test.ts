import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listAbandonedMoves } from '../../src/store/moves/moves.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createDirectory, isHalted, runCommand, startCommand, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { callerOf, type Spread, startSpread } from './installation.ts'
import { isOnlyAt, serversIn } from './servers.ts'

const servers = serversIn(createDirectory())
let shop: Spread
let luma: Caller
let customers = 0

before(async () => {
  shop = await startSpread()
  const urls = await Promise.all([servers.start('east'), servers.start('west')])
  await shop.add('east', urls[0])
  await shop.add('west', urls[1])
  luma = callerOf(shop, await shop.place('luma', 'east', 'readsPerMinute=off', 'writesPerMinute=off'))
  await writes()
})
after(async () => {
  await shop.stop()
  await servers.stop()
})

/** Waits until a write is executed. */
async function writes() {
  const [body, key] = [buildCustomer(), withKey()]
  await waitUntil(async () => (await post(luma, '/customers', body, key)).status === 201, 'it is written', 30_000)
  customers++
}

/** Asserts that it is served, with all that was written. */
async function isServed() {
  const { status, json } = await luma.get('/customers/search?updated_after=2020-01-01%2000:00:00')
  assert.equal(status, 200)
  assert.equal(json.data.length, customers)
}

/** Moves it with a mover that is killed, or halted, at a crash point. */
async function movedTo(database: string, FAILPOINT: string) {
  const mover = startCommand(['service', 'move', 'luma', '--to', database], { ...shop.environment, FAILPOINT })
  if (!FAILPOINT.endsWith(':stop')) assert.equal((await mover.ended).signal, 'SIGKILL', mover.err)
  return mover
}

const undo = () => runCommand(['service', 'move', 'luma', '--undo'], shop.environment)

// Asked of the database: a command that is tried until it may takes most of the CPU of this file.
const abandoned = () =>
  waitUntil(async () => (await listAbandonedMoves(shop.db)).length > 0, 'the mover counts as dead', 60_000)

/** Asserts that `doctor` reports the move: first in progress, then abandoned. */
async function assertReported() {
  const readCheck = async () => {
    const { code, out } = await runCommand(['doctor', '--json'], shop.environment)
    assert.equal(code, 1)
    return JSON.parse(out).find(({ check }: { check: string }) => check === 'Moves') as { ok: boolean; detail: string }
  }
  const early = await readCheck()
  if (early.ok) assert.equal(early.detail, 'luma moves from east to west, in progress')
  await abandoned()
  const late = await readCheck()
  assert.ok(!late.ok)
  assert.match(late.detail, /luma moves from east to west, interrupted \d+ s ago\. .* --undo/)
}

/** Recovers the move once the mover's lease has expired. Until then, `move` is rejected. */
async function recoverMove() {
  const early = await undo()
  if (early.code === 0) return early.out
  assert.match(early.err, /Another process is moving luma/)
  await abandoned()
  const { code, out, err } = await undo()
  assert.equal(code, 0, err)
  return out
}

for (const crashPoint of ['service_copied', 'service_compared', 'service_drained', 'service_paused'])
  test(`a move killed at ${crashPoint} keeps the service where it was`, async () => {
    await movedTo('west', crashPoint)
    await isServed()
    await writes()
    if (crashPoint === 'service_copied') await assertReported()
    assert.match(await recoverMove(), /Interrupted move undone: luma stays in its previous shard/)
    await writes()
    await isServed()
    await isOnlyAt(servers, 'east', 'west', luma.service)
  })

let [there, other] = ['east', 'west'] as [string, string]
for (const crashPoint of ['service_moved_away', 'service_switched', 'service_opened'])
  test(`a move killed at ${crashPoint} keeps reads and is finished afterwards`, async () => {
    await movedTo(other, crashPoint)
    await isServed()
    assert.match(await recoverMove(), /Interrupted move finished: luma is in/)
    ;[there, other] = [other, there]
    await writes()
    await isServed()
    await isOnlyAt(servers, there, other, luma.service)
  })

test('a worker finishes a killed move automatically', async () => {
  await movedTo(other, 'service_switched')
  const worker = startCommand(['worker'], { ...shop.environment, LOG_LEVEL: 'warn' })
  await writes()
  ;[there, other] = [other, there]
  await waitUntil(
    async () => (await servers.ask(other, 'select from service')).length === 0,
    'nothing is left where it was',
    60_000,
  )
  await isServed()
  worker.child.kill()
  await worker.ended
  await delay(500)
  await isOnlyAt(servers, there, other, luma.service)
})

test('a failure after the switch opens the service and cleans up', async () => {
  const { code, out, err } = await runCommand(['service', 'move', 'luma', '--to', other], {
    ...shop.environment,
    FAILPOINT: 'service_switched:fail',
  })
  assert.equal(code, 0, err)
  assert.match(out, new RegExp(`luma moved to ${other}\\..*\nOld copy of luma deleted\\.`))
  ;[there, other] = [other, there]
  await writes()
  await isServed()
  await isOnlyAt(servers, there, other, luma.service)
})

test('a command failing after the switch names location and cleanup', async () => {
  const { code, err } = await runCommand(['service', 'move', 'luma', '--to', other], {
    ...shop.environment,
    FAILPOINT: 'service_opened:fail',
  })
  assert.equal(code, 1)
  assert.match(err, new RegExp(`Failpoint .* luma is served from ${other} now\\. .*--undo`))
  assert.doesNotMatch(err, /undone/)
  ;[there, other] = [other, there]
  await writes()
  assert.match(await recoverMove(), /Interrupted move finished: luma is in/)
  await isServed()
  await isOnlyAt(servers, there, other, luma.service)
})

test('a killed target leaves no replication slot at the source', async () => {
  for (const text of [
    'create function stand_still() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return new; end $$',
    'create trigger stand_still before insert on customer for each row execute function stand_still()',
    'alter table customer enable always trigger stand_still',
  ])
    await servers.ask(other, text)
  const mover = startCommand(['service', 'move', 'luma', '--to', other], shop.environment)
  const copies = () => servers.ask(there, `select from pg_replication_slots where slot_name ~ '^pg_[0-9]+_sync_'`)
  await waitUntil(async () => (await copies()).length > 0, 'a table is being copied', 60_000)
  await servers.kill(other)
  assert.equal((await mover.ended).code, 1)
  assert.match(mover.err, /still served from the source/)
  assert.deepEqual(await servers.ask(there, 'select slot_name from pg_replication_slots'), [])
  await writes()
  await shop.add(other, await servers.start(other))
  for (const object of ['trigger stand_still on customer', 'function stand_still'])
    await servers.ask(other, `drop ${object}`)
  await recoverMove()
  await isServed()
  await isOnlyAt(servers, there, other, luma.service)
})

test('a killed target is cleaned up once it is back', async () => {
  const mover = await movedTo(other, 'service_drained:stop')
  // The next mover would wait for ever if this one had not halted yet.
  await waitUntil(() => isHalted(mover.child.pid), 'it is drained, and halts', 60_000)
  await servers.kill(other)
  mover.child.kill('SIGCONT')
  assert.equal((await mover.ended).code, 1)
  assert.match(mover.err, /still served from the source/)
  assert.deepEqual(await servers.ask(there, 'select from pg_replication_slots'), [], 'no log is kept for the dead')
  await writes()
  await isServed()
  await abandoned()
  assert.match((await undo()).err, /The partial copy there is deleted once that shard is back\. luma is served/)
  await shop.add(other, await servers.start(other))
  await recoverMove()
  await isServed()
  await isOnlyAt(servers, there, other, luma.service)
  await shop.move('luma', other)
  ;[there, other] = [other, there]
  await isServed()
  await isOnlyAt(servers, there, other, luma.service)
})
