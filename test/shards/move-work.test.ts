import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createDirectory, startCommand, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { parseChanges, type Receiver, startReceiver } from '../support/webhooks/receiver.ts'
import { post, withKey } from '../support/write.ts'
import { startWriting } from './following.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'
import { assertOnlyAt, createServers } from './servers.ts'

// Imports and webhook deliveries that are in progress while their service moves.

const home = createDirectory()
const servers = createServers(home)
let shop: ShardedInstallation
let luma: Caller
let receiver: Receiver

before(async () => {
  shop = await startShardedInstallation({ WEBHOOK_NETWORKS: '127.0.0.0/8' })
  const urls = await Promise.all([servers.start('east'), servers.start('west')])
  await shop.addShard('east', urls[0])
  await shop.addShard('west', urls[1])
  luma = createCaller(shop, await shop.createShardService('luma', 'east', 'readsPerMinute=off', 'writesPerMinute=off'))
  receiver = await startReceiver()
})
after(async () => {
  await receiver.close()
  await shop.stop()
  await servers.stop()
})

test('a running import finishes before the move and the next follows', async () => {
  const lines = createWriteStream(join(home, 'staff.csv'))
  lines.write('id,code,firstname,surname\n')
  for (let i = 0; i < 30_000; i++) lines.write(`s${i},S${i},Ann,Lee\n`)
  await new Promise(resolve => lines.end(resolve))
  const file = join(home, 'staff.csv')
  const importCommand = startCommand(['import', 'staff', file, '--service', 'luma'], shop.environment)
  const running = `select from sync_run where sync = 'staff' and ended_at is null`
  await waitUntil(async () => (await servers.query('east', running)).length > 0, 'the import has begun', 30_000)
  const move = shop.moveService('luma', 'west')
  const importResult = await importCommand.ended
  assert.equal(importResult.code, 0, importCommand.err)
  assert.match(await move, /luma moved to west/)
  const [row] = await servers.query('west', `select count(*)::integer as count from staff`)
  assert.equal(row?.count, 30_000)
  await shop.runSuccessfully('import', 'staff', file, '--service', 'luma')
  assert.equal((await servers.query('west', `select from sync_run where sync = 'staff'`)).length, 2)
  await post(luma, '/customers', { firstname: 'Ann', surname: 'Lee', contact: { email: 'ann@example.com' } }, withKey())
  await assertOnlyAt(servers, 'west', 'east', luma.service)
})

test('deliveries continue in order across a move', async () => {
  const created = await post(luma, '/webhooks', { url: receiver.url, kinds: ['customer'] }, withKey())
  assert.equal(created.status, 201, created.text)
  const worker = startCommand(['worker'], { ...shop.environment, WEBHOOK_NETWORKS: '127.0.0.0/8', LOG_LEVEL: 'warn' })
  try {
    const writers = [startWriting(luma), startWriting(luma)]
    await waitUntil(() => receiver.received.length > 0, 'the first delivery arrives', 30_000)
    await shop.moveService('luma', 'east')
    await delay(500)
    const ids = (await Promise.all(writers.map(writer => writer.end()))).flatMap(writer => writer.ids)
    const listReceivedIds = () => new Set(parseChanges(receiver.received).map(({ id }) => id))
    await waitUntil(() => ids.every(id => listReceivedIds().has(id)), 'each change is delivered', 60_000)
    const deliveries = new Map<string, string>()
    const firstDeliveries: typeof receiver.received = []
    for (const delivery of receiver.received) {
      const id = String(delivery.headers['webhook-id'])
      assert.equal(deliveries.get(id) ?? delivery.body, delivery.body, 'a repeated delivery must have the same body')
      if (!deliveries.has(id)) firstDeliveries.push(delivery)
      deliveries.set(id, delivery.body)
    }
    const changes = parseChanges(firstDeliveries)
    assert.deepEqual(changes.map(({ id }) => id).toSorted(), ids.toSorted(), 'each change must be in one delivery')
    const timestamps = changes.map(({ changedAt }) => changedAt)
    assert.deepEqual(timestamps, timestamps.toSorted(), 'changes must be ordered by timestamp')
  } finally {
    worker.child.kill()
    await worker.ended
  }
  await assertOnlyAt(servers, 'east', 'west', luma.service)
})
