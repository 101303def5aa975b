import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { readServiceOfJob } from '../../src/store/tenancy/services.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { countRowsByTable } from '../support/postgres/count-rows.ts'
import { createDirectory, runCommand, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'
import { createServers } from './servers.ts'

const servers = createServers(createDirectory())
let shop: ShardedInstallation
let restoredEast: TestDatabase
let west: string
let luma: Caller
let nova: Caller

/** Backs up a shard with two services, moves one of them, and restores the shard from the older backup. */
before(async () => {
  shop = await startShardedInstallation()
  restoredEast = await createEmptyDatabase()
  await shop.addShard('east', await servers.start('east'))
  west = await servers.start('west')
  await shop.addShard('west', west)
  luma = createCaller(shop, await shop.createShardService('luma', 'east'))
  nova = createCaller(shop, await shop.createShardService('nova', 'east'))
  for (const retailer of [luma, nova]) await createCustomer(retailer)
  const file = join(createDirectory(), 'east.tillbridge')
  await shop.runSuccessfully('backup', file, '--shard', 'east')
  await shop.moveService('luma', 'west')
  await createCustomer(luma)
  await servers.kill('east')
  const restored = await runCommand(['restore', file], { ...shop.environment, DATABASE_URL: restoredEast.connection })
  assert.equal(restored.code, 0, restored.err)
  assert.match(restored.out, /It is shard east\. Next, .*: tillbridge shard add east$/m)
})
after(async () => {
  await shop.stop()
  await restoredEast.drop()
  await servers.stop()
})

const createCustomer = async (caller: Caller) =>
  assert.equal((await post(caller, '/customers', buildCustomer(), withKey())).status, 201)

/** Waits until a service is served with `customers` customers, and creates another one. */
async function assertServed(caller: Caller, customers: number) {
  const listCustomers = async () =>
    (await caller.get('/customers/search?updated_after=2020-01-01%2000:00:00')).json.data
  await waitUntil(
    async () => (await listCustomers())?.length === customers,
    'the service is served with its customers',
    30_000,
  )
  await createCustomer(caller)
}

/** Returns what `doctor` reports about shards. */
async function readShardCheck() {
  const { out } = await runCommand(['doctor', '--json'], shop.environment)
  return (JSON.parse(out) as { check: string; detail: string }[]).find(({ check }) => check === 'Shards')?.detail ?? ''
}

test('a restored shard with a moved service is added without its copy', async () => {
  const output = await shop.addShard('east', restoredEast.connection)
  assert.match(output, /^luma is served from west\. Its rows in east are outdated and unused\.$/m)
  assert.match(output, /\(1 service\)/)
  await assertServed(nova, 1)
  await assertServed(luma, 2)
  assert.equal(await readServiceOfJob(restoredEast.db, luma.service.id), undefined)
  assert.ok(await readServiceOfJob(restoredEast.db, nova.service.id))
  assert.doesNotMatch(await readShardCheck(), /luma/)
})

test('doctor reports a shard restored in place until it is added', async () => {
  await restoredEast.db.run(sql`update service set move_state = null where name = 'luma'`)
  await restoredEast.db.run(sql`
    insert into alert (service_id, kind, subject, detail) select service_id, 'sync_failing', 'stock', 'earlier' from service where name = 'luma'`)
  assert.match(
    await readShardCheck(),
    /restored to a time before luma was moved to west\. To deactivate the old copy: tillbridge shard add east/,
  )
  await shop.addShard('east', restoredEast.connection)
  assert.doesNotMatch(await readShardCheck(), /luma/)
})

test('an outdated control database is updated with a moved service', async () => {
  await restoredEast.db.run(sql`delete from service where name = 'luma'`)
  await shop.db.run(sql`update service set shard_name = 'east' where name = 'luma'`)
  const remedy =
    /restored to a time before luma was moved to west, and lists it in east\. To serve it from west: tillbridge shard add west --adopt luma/
  assert.match(await readShardCheck(), remedy)
  assert.match(await shop.addShard('west', west), remedy)
  const output = await shop.addShard('west', west, '--adopt', 'luma')
  assert.doesNotMatch(output, /luma/)
  await assertServed(luma, 3)
  assert.doesNotMatch(await readShardCheck(), /luma/)
})

test('a service moved out of the control database is removed there', async () => {
  const { id } = luma.service
  await shop.db.run(sql`update service set shard_name = null where service_id = ${id}`)
  await shop.db.run(
    sql`insert into tombstone (service_id, kind, id, changed_at) values (${id}, 'product', 'old', now())`,
  )
  assert.match(
    await shop.addShard('west', west),
    /lists it in itself\. To serve it from west: tillbridge shard add west --adopt luma/,
  )
  await shop.addShard('west', west, '--adopt', 'luma')
  await assertServed(luma, 4)
  assert.equal(await shop.db.run(sql`select from tombstone where service_id = ${id}`), 0)
})

test('a service served by another shard is moved, not adopted', async () => {
  await restoredEast.db.run(sql`
    insert into service (service_id, name) overriding system value values (${luma.service.id}, 'luma')`)
  await assert.rejects(
    shop.addShard('east', restoredEast.connection, '--adopt', 'luma'),
    /luma is served from west\. Move it with "tillbridge service move luma --to east"/,
  )
  await assert.rejects(
    shop.addShard('east', restoredEast.connection, '--adopt', 'nobody'),
    /Services not found in east: nobody/,
  )
})

test('an ignored copy is deleted with its service', async () => {
  await shop.addShard('east', restoredEast.connection)
  assert.equal(await restoredEast.db.run(sql`select from service where name = 'luma' and move_state = 'moved_away'`), 1)
  await shop.runSuccessfully('service', 'remove', 'luma', '--no-backup', '--yes', 'luma')
  assert.deepEqual(await countRowsByTable(restoredEast.db, luma.service), {})
  await assertServed(nova, 2)
})
