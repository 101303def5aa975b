import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../src/database/db.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { upsertPrograms, upsertRewardAccounts, upsertRewardLots } from '../../src/store/rewards/rewards.ts'
import { readService } from '../../src/store/tenancy/services.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { openEvents } from '../support/event-stream.ts'
import { createDirectory, runCommand } from '../support/processes.ts'
import { buildTier } from '../support/reward-member.ts'
import { buildCredentials } from '../support/servers.ts'
import type { Caller } from '../support/service.ts'
import { addVouchers, getValidationId, listLedgerSteps, lockVoucher } from '../support/voucher-shop.ts'
import { assertReplay, post, withKey } from '../support/write.ts'
import { startFollowingChanges, startPollingList, startWriting } from './following.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'
import { assertOnlyAt, createServers } from './servers.ts'

const servers = createServers(createDirectory())
let shop: ShardedInstallation
let luma: Caller
let urls: string[]

before(async () => {
  shop = await startShardedInstallation()
  urls = await Promise.all([servers.start('east'), servers.start('west')])
  await shop.addShard('east', urls[0] ?? '')
  await shop.addShard('west', urls[1] ?? '')
  luma = createCaller(
    shop,
    await shop.createShardService(
      'luma',
      'east',
      'currency=AUD',
      'timeZone=Australia/Melbourne',
      'vouchersEnabled=true',
    ),
  )
  await shop.runSuccessfully('service', 'set', 'luma', 'readsPerMinute=off', 'writesPerMinute=off')
})
after(async () => {
  await shop.stop()
  await servers.stop()
})

test('a service moves during writes without loss, repetition or long pauses', async () => {
  const stream = await openEvents({ at: shop, caller: luma, path: '/changes/stream?kinds=customer' })
  const writers = [startWriting(luma), startWriting(luma), startWriting(luma)]
  const changes = [startFollowingChanges(luma), startFollowingChanges(luma)]
  const lists = [startPollingList(luma), startPollingList(luma)]
  await delay(500)
  const output = await shop.moveService('luma', 'west')
  assert.match(output, /luma moved to west\. Writes paused for [\d.]+ s\./)
  const writeResults = await Promise.all(writers.map(writer => writer.end()))
  const ids = writeResults.flatMap(writer => writer.ids)
  assert.ok(
    writeResults.some(({ pauseCount }) => pauseCount > 0),
    'some writes must have been paused',
  )
  for (const { longestMs } of writeResults) assert.ok(longestMs < 5_000, `${longestMs} ms between two writes`)

  for (const followed of await Promise.all(changes.map(change => change.end()))) {
    assert.deepEqual(followed.map(({ id }) => id).toSorted(), ids.toSorted(), 'each change must arrive once')
    const timestamps = followed.map(({ changedAt }) => changedAt)
    assert.deepEqual(timestamps, timestamps.toSorted(), 'changes must be ordered by timestamp')
  }
  for (const { ids: listed, instants } of await Promise.all(lists.map(list => list.end()))) {
    assert.deepEqual([...listed].toSorted(), ids.toSorted())
    assert.deepEqual(instants, instants.toSorted(), '`asOf` must never decrease')
  }

  await stream.ended
  const last = stream.text.split('\n\n').findLast(text => text.includes('event: error')) ?? ''
  assert.match(last, /"code":"service_unavailable"/)
  const resumed = await openEvents({
    at: shop,
    caller: luma,
    path: '/changes/stream?kinds=customer',
    headers: { 'last-event-id': stream.lastId ?? '' },
  })
  const listChangedIds = (events: typeof stream.events) =>
    events.filter(({ event }) => event === 'change').map(({ data = '' }) => JSON.parse(data).id as string)
  const missing = ids.length - listChangedIds(stream.events).length
  for (let i = 0; i < missing; i++) await resumed.next()
  assert.deepEqual(
    [...listChangedIds(stream.events), ...listChangedIds(resumed.events)].toSorted(),
    ids.toSorted(),
    'the resumed stream must miss no change',
  )
  resumed.close()
  await assertOnlyAt(servers, 'west', 'east', luma.service)
})

test('earlier keys, locks, validations and ledgers remain valid', async () => {
  const db = openDatabase(urls[1] ?? '', { max: 2 })
  try {
    const service = await readService(db, luma.service.id)
    assert.ok(service)
    const eastApi = { db, keys: shop.keys, service }
    await addVouchers(eastApi, eastApi, { 'V-1': {}, 'V-2': {} })
    await upsertPrograms(db, service, [buildTier('1', '0.00')])
    await upsertCustomers(db, service, [{ id: 'member', firstname: 'Ann', surname: 'Lee' }])
    await upsertRewardAccounts(db, service, [{ id: 'a1', customerId: 'member', programId: '1', tierId: '1' }])
    const rewardLot = { accountId: 'a1', kind: 'reward', lotId: 'r1', createdAt: '2026-01-05 10:00:00', total: '20.00' }
    await upsertRewardLots(db, service, [rewardLot])
  } finally {
    await db.close()
  }
  const [body, key] = [buildCustomer(), withKey()]
  const issued = (await post(luma, `/accounts/${luma.username}/keys`, { name: 'web-1' })).json.data
  const authorization = `Basic ${issued.apiKey}`
  const first = await post(luma, '/customers', body, key)
  const validations = [await getValidationId(luma, 'V-1'), await getValidationId(luma, 'V-2')]
  assert.equal((await lockVoucher(luma, 'V-1', validations[0] ?? '')).status, 200)
  const redemptions = '/rewards/accounts/a1/redemptions'
  const requestId = randomUUID()
  const reserved = await post(luma, redemptions, { requestId, amount: '15.00', seconds: 3_600 })
  assert.equal(reserved.status, 201, reserved.text)
  const { endCursor } = (await luma.get('/changes?kinds=customer&limit=1000')).json.meta

  await shop.moveService('luma', 'east')

  const second = await post(luma, redemptions, { requestId: randomUUID(), amount: '15.00' })
  assert.equal(second.json.code, 'insufficient_rewards', 'rewards must stay reserved')
  assert.equal((await post(luma, `${redemptions}/${requestId}/confirm`, {})).json.data?.status, 'confirmed')

  assert.equal((await luma.get('/stores', { authorization })).status, 200, 'API keys must stay valid')
  assertReplay(await post(luma, '/customers', body, key), first)
  assert.equal((await post(luma, '/customers', buildCustomer(), key)).json.code, 'idempotency_key_reused')
  assert.equal((await lockVoucher(luma, 'V-1', validations[0] ?? '')).status, 200, 'the lock must stay valid')
  assert.equal((await lockVoucher(luma, 'V-2', validations[1] ?? '')).status, 200, 'the validation must stay valid')
  const created = await post(luma, '/customers', buildCustomer(), withKey())
  const { data } = (await luma.get(`/changes?kinds=customer&limit=1000&after_cursor=${endCursor}`)).json
  assert.ok(data.some(({ id }: { id: string }) => id === created.json.data.id))
  const east = openDatabase(urls[0] ?? '', { max: 1 })
  assert.ok((await listLedgerSteps({ db: east }, luma, 'V-2')).length > 0)
  await east.close()
  assert.match(await shop.runSuccessfully('service', 'show', 'luma'), /^currency = AUD$/m)
  assert.ok((await luma.get('/requests')).json.data.length > 10, 'the request log must be moved')
  await assertOnlyAt(servers, 'east', 'west', luma.service)
})

test('a bulk export across a move is truncated and can be repeated', async () => {
  const db = openDatabase(urls[0] ?? '', { max: 1 })
  const service = await readService(db, luma.service.id)
  assert.ok(service)
  // Long records, because each one costs CPU time. Together they exceed the buffers of a connection.
  const addressLine1 = 'x'.repeat(1_500)
  for (let i = 0; i < 12_000; i += 2_000) {
    const rows = Array.from({ length: 2_000 }, (_, n) => ({
      id: `many-${i + n}`,
      firstname: 'Ann',
      addressLine1,
    }))
    await upsertCustomers(db, service, rows)
  }
  await db.close()
  const path = '/customers/search'
  const headers = { ...buildCredentials(luma), accept: 'application/x-ndjson' }
  const clientRequest = request(`${shop.baseUrl}${path}`, { ca: shop.ca, agent: false, headers }).end()
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage]
  response.pause()
  await shop.moveService('luma', 'west')
  let readBytes = 0
  response.on('data', (bytes: Buffer) => {
    readBytes += bytes.length
  })
  response.on('error', () => {}).resume()
  if (!response.closed) await new Promise(resolve => response.once('close', resolve))
  assert.equal(response.complete, false)
  assert.ok(readBytes > 0)
  const repeated = await luma.request(path, { headers: { accept: 'application/x-ndjson' } })
  assert.ok(repeated.text.split('\n').length > 12_000)
  await assertOnlyAt(servers, 'west', 'east', luma.service)
  await shop.moveService('luma', 'east')
})

test('an impossible move is rejected with a remedy and no change', async () => {
  const runRejectedMove = async (...args: string[]) => {
    const { code, err } = await runCommand(['service', 'move', ...args], shop.environment)
    assert.equal(code, 1)
    return err
  }
  assert.match(await runRejectedMove('luma', '--to', 'north'), /Shard north not found\. Shards: east, west\./)
  assert.match(await runRejectedMove('nobody', '--to', 'west'), /Service nobody not found/)
  assert.match(await runRejectedMove('luma'), /--to <shard> and --undo/)
  assert.match(
    await runRejectedMove(shop.service.name, '--to', 'west'),
    /the control database has wal_level = minimal: alter system set wal_level = 'logical', and restart/,
  )
  assert.match(await shop.moveService('luma', 'east'), /luma is in east already/)
  assert.match(await shop.runSuccessfully('service', 'move', 'luma', '--undo'), /luma is not being moved/)
  assert.match((await runCommand(['service', 'move', '--help'], shop.environment)).out, /service move luma --to eu-2/)
  await assertOnlyAt(servers, 'east', 'west', luma.service)
})
