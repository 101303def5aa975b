import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createPrimary, type DebianServer, debianPostgresMissing } from '../../scenarios/support/debian-postgres.ts'
import { findFreePort } from '../../scenarios/support/free-port.ts'
import { faketime, faketimeMissing } from '../../scenarios/support/haproxy.ts'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createDirectory, runCommand } from '../support/processes.ts'
import { post } from '../support/write.ts'
import { startFollowingChanges, startPollingList, startWriting } from './following.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'

describe('moves to a server with a wrong clock', { skip: debianPostgresMissing ?? faketimeMissing }, () => {
  const servers: DebianServer[] = []
  let shop: ShardedInstallation

  /** Starts a server whose clock is `aheadSeconds` ahead, and registers it as a shard. Returns its URL. */
  async function addServer(name: string, aheadSeconds: number) {
    const options = { home: join(createDirectory(), name), port: await findFreePort() }
    const server = createPrimary(options)
    const clock = {
      LD_PRELOAD: faketime,
      FAKETIME: `${aheadSeconds >= 0 ? '+' : ''}${aheadSeconds}s`,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    server.start({ wal_level: 'logical', fsync: 'off', autovacuum_naptime: '5s' }, aheadSeconds ? clock : {})
    servers.push(server)
    const url = `postgres://tillbridge@127.0.0.1:${options.port}/postgres`
    await shop.addShard(name, url)
    return url
  }

  before(async () => {
    shop = await startShardedInstallation()
    await addServer('right', 0)
    await addServer('ahead', 4)
    await addServer('behind', -0.7)
  })
  after(async () => {
    await shop?.stop()
    for (const server of servers) server.stop()
  })

  for (const [name, label] of [
    ['ahead', 'is 4 s ahead'],
    ['behind', 'is 0.7 s behind'],
  ] as const)
    test(`a move misses nothing if the target's clock ${label}`, async () => {
      const service = `to-${name}`
      const unlimited = ['readsPerMinute=off', 'writesPerMinute=off']
      const caller = createCaller(shop, await shop.createShardService(service, 'right', ...unlimited))
      const writers = [startWriting(caller), startWriting(caller)]
      const [changes, list] = [startFollowingChanges(caller), startPollingList(caller)]
      await delay(500)
      assert.match(await shop.moveService(service, name), /Writes paused for [0-4]\.\d s/)
      const ids = (await Promise.all(writers.map(writer => writer.end()))).flatMap(writer => writer.ids)
      const followedChanges = await changes.end()
      assert.deepEqual(followedChanges.map(({ id }) => id).toSorted(), ids.toSorted(), 'each change must arrive once')
      const timestamps = followedChanges.map(({ changedAt }) => changedAt)
      assert.deepEqual(timestamps, timestamps.toSorted(), 'changes must be ordered by timestamp')
      const { ids: listedIds, instants } = await list.end()
      assert.deepEqual([...listedIds].toSorted(), ids.toSorted())
      assert.deepEqual(instants, instants.toSorted(), '`asOf` must never decrease')
    })

  test('a moved service shows all records despite a corrected clock', async () => {
    const url = await addServer('corrected', 0)
    const caller = createCaller(shop, await shop.createShardService('set-back', 'corrected'))
    const client = new pg.Client(url)
    await client.connect()
    await client.query(
      `insert into database_clock as c (high_water, expiry_at, corrected_at, resumes_from)
       values (now(), now(), now(), now() + interval '1 hour')
       on conflict (is_only) do update set (corrected_at, resumes_from) = (excluded.corrected_at, excluded.resumes_from)`,
    )
    await client.end()
    const created = await post(caller, '/customers', buildCustomer())
    assert.equal(created.status, 201, created.text)
    const list = async () => (await caller.get('/customers/search?updated_after=2000-01-01T00:00:00Z')).json
    const previous = await list()
    assert.equal(previous.data.length, 1)
    await shop.moveService('set-back', 'right')
    const { data, meta } = await list()
    assert.deepEqual(data, previous.data)
    assert.ok(meta.asOf >= previous.meta.asOf, `${meta.asOf} is before ${previous.meta.asOf}`)
  })

  test('a move is rejected if the target clock is further behind', async () => {
    const { code, err } = await runCommand(['service', 'move', 'to-ahead', '--to', 'right'], shop.environment)
    assert.equal(code, 1)
    assert.match(err, /The clocks of ahead and right are 4\.\d s apart: set both by NTP\./)
  })
})
