import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { signPayload } from '../../simulator/shopify/webhooks.ts'
import { type Database, openDatabase, raw, sql } from '../../src/database/db.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { createDirectory, runCommand, runSuccessfully, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'
import { createServers } from './servers.ts'

const servers = createServers(createDirectory())
const home = createDirectory()
const simulator = await startShopifySimulator({ size: { locations: 2, variants: 5, customers: 3 } })
let shop: ShardedInstallation
let restored: TestDatabase
let luma: Caller
let east: string
let west: string
let tables: string[]

const writeSecretFile = (secret: string) => {
  const file = join(home, 'secret')
  writeFileSync(file, `${secret}\n`)
  return file
}

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase(url)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Returns the rows of each table of a platform. */
const readPlatform = (url: string) =>
  withDatabase(url, async db => {
    const rows: [string, string[]][] = []
    for (const table of tables) {
      const texts = await db.rows<{ text: string }>(sql`
        select row_to_json(t)::text as text from ${raw(table)} t where service_id = ${luma.service.id} order by 1`)
      rows.push([table, texts.map(({ text }) => text)])
    }
    return Object.fromEntries(rows)
  })

before(async () => {
  shop = await startShardedInstallation()
  restored = await createEmptyDatabase()
  east = await servers.start('east')
  west = await servers.start('west')
  await shop.addShard('east', east)
  await shop.addShard('west', west)
  luma = createCaller(shop, await shop.createShardService('luma', 'east', 'currency=AUD'))
  const publicEnvironment = { ...shop.environment, PUBLIC_URL: 'https://api.example.com' }
  const setConnection = (...args: string[]) => runSuccessfully(['ecommerce', 'set', 'luma', ...args], publicEnvironment)
  const { clientId, clientSecret } = simulator.settings
  await setConnection(
    `url=${simulator.url}`,
    `clientId=${clientId}`,
    'events=on',
    '--secret-file',
    writeSecretFile(clientSecret),
  )
  simulator.set({ clientSecret: 'rotated' })
  await setConnection('stockPush=dryRun', '--secret-file', writeSecretFile('rotated'))
  await runSuccessfully(['sync', '--service', 'luma'], publicEnvironment)
  await runSuccessfully(['ecommerce', 'reconcile', 'luma'], publicEnvironment)
  await withDatabase(east, async db => {
    const relations = await db.rows<{ name: string }>(
      sql`select relname as name from pg_class where relkind = 'r' and relname like 'ecommerce\\_%' order by 1`,
    )
    tables = relations.map(({ name }) => name)
    const { id } = luma.service
    await db.run(sql`
      insert into ecommerce_event (service_id, connection_id, event_id, target, subject_id) values (${id}, 'main', 'e1', 'stock', 'gid://shopify/InventoryItem/1')`)
    await db.run(sql`
      insert into ecommerce_tombstone (service_id, connection_id, kind, item_key, platform_id, ecommerce_id, is_verified)
      values (${id}, 'main', 'skus', '1', 'gid://shopify/ProductVariant/1', 'SKU-1', true)`)
    await db.run(sql`
      insert into ecommerce_commitment (service_id, connection_id, order_id, line_id, location_id, item_id, units, confirmed_at)
      values (${id}, 'main', 'o1', 'l1', 'gid://shopify/Location/1', 'gid://shopify/InventoryItem/1', 2, now())`)
    await db.run(sql`
      insert into ecommerce_observed_level (service_id, connection_id, item_id, location_id, on_hand, committed, held_back)
      values (${id}, 'main', 'gid://shopify/InventoryItem/1', 'gid://shopify/Location/1', 3, 2, 0)`)
    await db.run(sql`
      insert into ecommerce_drift (service_id, connection_id, reconciliation_id, item_id, location_id, known_on_hand, observed_on_hand, changed_by)
      select service_id, connection_id, reconciliation_id, 'gid://shopify/InventoryItem/1', 'gid://shopify/Location/1', 3, 4, 'Stocktake' from ecommerce_reconciliation`)
  })
})
after(async () => {
  await shop.stop()
  await restored.drop()
  await servers.stop()
  await simulator.close()
})

/** Sends an event with a secret. Returns the status. */
async function sendEvent(id: string, secret: string) {
  const body = '{"id":4711}'
  const { status } = await shop.sendRaw('/ecommerce/events/luma/main', {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-shopify-topic': 'products/update',
      'x-shopify-webhook-id': id,
      'x-shopify-hmac-sha256': signPayload(secret, body),
    },
  })
  return status
}

test('a service moves with its platform and keeps receiving its events', async () => {
  for (const [table, rows] of Object.entries(await readPlatform(east))) assert.ok(rows.length, table)
  assert.equal(await sendEvent('before-the-move', 'rotated'), 200)
  const expected = await readPlatform(east)
  await shop.moveService('luma', 'west')
  assert.deepEqual(await readPlatform(west), expected)
  for (const [table, rows] of Object.entries(await readPlatform(east))) assert.deepEqual(rows, [], table)
  const { code, out, err } = await runCommand(['ecommerce', 'test', 'luma'], {
    ...shop.environment,
    PUBLIC_URL: 'https://api.example.com',
  })
  assert.equal(code, 0, err)
  assert.match(out, /Events: \d+ of \d+ topics are sent\./)
  await waitUntil(async () => (await sendEvent('after-the-move', 'rotated')) === 200, 'the new shard receives events')
  assert.equal(await sendEvent('with-the-previous-secret', 'simulated-secret'), 200)
  const events = (await readPlatform(west)).ecommerce_event?.join('\n') ?? ''
  for (const id of ['before-the-move', 'after-the-move', 'with-the-previous-secret']) assert.ok(events.includes(id), id)
})

test('a restored backup has every row of the platform', async () => {
  const expected = await readPlatform(west)
  const file = join(home, 'west.tillbridge')
  await shop.runSuccessfully('backup', file, '--shard', 'west')
  const result = await runCommand(['restore', file], { ...shop.environment, DATABASE_URL: restored.connection })
  assert.equal(result.code, 0, result.err)
  assert.deepEqual(await readPlatform(restored.connection), expected)
})
