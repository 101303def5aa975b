import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createDirectory, startCommand, waitUntil } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { parseChanges, type Receiver, startReceiver } from '../support/webhooks/receiver.ts'
import { post, withKey } from '../support/write.ts'
import { writing } from './following.ts'
import { callerOf, type Spread, startSpread } from './installation.ts'
import { isOnlyAt, serversIn } from './servers.ts'

// Work in progress for a service that moves: imports and deliveries.

const home = createDirectory()
const servers = serversIn(home)
let shop: Spread
let luma: Caller
let receiver: Receiver

before(async () => {
  shop = await startSpread({ WEBHOOK_NETWORKS: '127.0.0.0/8' })
  const urls = await Promise.all([servers.start('east'), servers.start('west')])
  await shop.add('east', urls[0])
  await shop.add('west', urls[1])
  luma = callerOf(shop, await shop.place('luma', 'east', 'readsPerMinute=off', 'writesPerMinute=off'))
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
  const importing = startCommand(['import', 'staff', file, '--service', 'luma'], shop.environment)
  const running = `select from sync_run where sync = 'staff' and ended_at is null`
  await waitUntil(async () => (await servers.ask('east', running)).length > 0, 'the import has begun', 30_000)
  const moving = shop.move('luma', 'west')
  const imported = await importing.ended
  assert.equal(imported.code, 0, importing.err)
  assert.match(await moving, /luma moved to west/)
  const [row] = await servers.ask('west', `select count(*)::integer as count from staff`)
  assert.equal(row?.count, 30_000)
  await shop.command('import', 'staff', file, '--service', 'luma')
  assert.equal((await servers.ask('west', `select from sync_run where sync = 'staff'`)).length, 2)
  await post(luma, '/customers', { firstname: 'Ann', surname: 'Lee', contact: { email: 'ann@example.com' } }, withKey())
  await isOnlyAt(servers, 'west', 'east', luma.service)
})

test('deliveries continue in order across a move', async () => {
  const created = await post(luma, '/webhooks', { url: receiver.url, kinds: ['customer'] }, withKey())
  assert.equal(created.status, 201, created.text)
  const worker = startCommand(['worker'], { ...shop.environment, WEBHOOK_NETWORKS: '127.0.0.0/8', LOG_LEVEL: 'warn' })
  try {
    const writers = [writing(luma), writing(luma)]
    await waitUntil(() => receiver.received.length > 0, 'the first delivery', 30_000)
    await shop.move('luma', 'east')
    await delay(500)
    const ids = (await Promise.all(writers.map(writer => writer.end()))).flatMap(writer => writer.ids)
    const receivedIds = () => new Set(parseChanges(receiver.received).map(({ id }) => id))
    await waitUntil(() => ids.every(id => receivedIds().has(id)), 'each change is sent', 60_000)
    const deliveries = new Map<string, string>()
    const once: typeof receiver.received = []
    for (const delivery of receiver.received) {
      const id = String(delivery.headers['webhook-id'])
      assert.equal(deliveries.get(id) ?? delivery.body, delivery.body, 'a repeat says the same')
      if (!deliveries.has(id)) once.push(delivery)
      deliveries.set(id, delivery.body)
    }
    const changes = parseChanges(once)
    assert.deepEqual(changes.map(({ id }) => id).toSorted(), ids.toSorted(), 'in one delivery each')
    const timestamps = changes.map(({ changedAt }) => changedAt)
    assert.deepEqual(timestamps, timestamps.toSorted(), 'in the order of their stamps')
  } finally {
    worker.child.kill()
    await worker.ended
  }
  await isOnlyAt(servers, 'east', 'west', luma.service)
})
