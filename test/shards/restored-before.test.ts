import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/db.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { assertProblem } from '../support/problem.ts'
import { createDirectory, runCommand, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'

let shop: ShardedInstallation
let restoredShard: TestDatabase
let rome: Caller
let cursor: string

/** Restores a lost shard from a backup that is older than two of its three services. */
before(async () => {
  shop = await startShardedInstallation()
  const east = await createEmptyDatabase()
  restoredShard = await createEmptyDatabase()
  await shop.addShard('east', east.connection)
  await shop.createShardService('paris', 'east')
  const file = join(createDirectory(), 'east.tillbridge')
  await shop.runSuccessfully('backup', file, '--shard', 'east')
  rome = createCaller(shop, await shop.createShardService('rome', 'east'))
  await shop.createShardService('oslo', 'east')
  cursor = (await rome.get('/changes')).json.meta.endCursor
  const restored = await runCommand(['restore', file], { ...shop.environment, DATABASE_URL: restoredShard.connection })
  assert.equal(restored.code, 0, restored.err)
  await east.drop()
})
after(async () => {
  await shop.stop()
  await restoredShard.drop()
})

const buildRemedy = (name: string) =>
  `${name} is not in east: tillbridge service add ${name} --shard east creates it again, empty; tillbridge service remove ${name} --no-backup forgets it.`

test('an outdated restored shard is reported by every command', async () => {
  const output = await shop.addShard('east', restoredShard.connection)
  assert.deepEqual(output.split('\n').slice(0, 2), [buildRemedy('oslo'), buildRemedy('rome')])
  assert.match(output, /\(1 service\)/)
  const { out } = await runCommand(['doctor'], shop.environment)
  for (const name of ['oslo', 'rome']) assert.ok(out.includes(`  FAIL: ${buildRemedy(name)}\n`), out)
  assert.doesNotMatch(out, /paris is not in east/)
  for (const args of [
    ['show', 'rome'],
    ['remove', 'rome', '--yes', 'rome'],
  ]) {
    const { code, err } = await runCommand(['service', ...args], shop.environment)
    assert.deepEqual([code, err], [1, `tillbridge: ${buildRemedy('rome')}\n`])
  }
})

test('a lost service is created again under its number', async () => {
  assert.match(await shop.runSuccessfully('service', 'add', 'rome', '--shard', 'east'), /^Service rome created\./)
  await waitUntil(async () => (await rome.get('/stores')).status === 200, 'rome is served', 30_000)
  assertProblem(await rome.get(`/changes?after_cursor=${cursor}`), 'cursor_expired', shop.baseUrl)
})

test('a lost service can be deleted with its account', async () => {
  const output = await shop.runSuccessfully('service', 'remove', 'oslo', '--no-backup', '--yes', 'oslo')
  assert.match(output, /Service oslo deleted\. Accounts deleted with it: oslo-admin\./)
  assert.equal(await shop.db.run(sql`select from service where name = 'oslo'`), 0)
  assert.doesNotMatch((await runCommand(['doctor'], shop.environment)).out, /is not in east/)
})
