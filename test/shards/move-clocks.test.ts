import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createPrimary, type DebianServer, debianPostgresMissing } from '../../scenarios/support/debian-postgres.ts'
import { findFreePort } from '../../scenarios/support/free-port.ts'
import { faketime, faketimeMissing } from '../../scenarios/support/haproxy.ts'
import { createDirectory, runCommand } from '../support/processes.ts'
import { followingChanges, followingList, writing } from './following.ts'
import { callerOf, type Spread, startSpread } from './installation.ts'

describe('moves to a server with a wrong clock', { skip: debianPostgresMissing ?? faketimeMissing }, () => {
  const started: DebianServer[] = []
  let shop: Spread

  /** Starts a server whose clock is so many seconds ahead, and makes it known. */
  async function add(name: string, aheadSeconds: number) {
    const place = { home: join(createDirectory(), name), port: await findFreePort() }
    const server = createPrimary(place)
    const clock = {
      LD_PRELOAD: faketime,
      FAKETIME: `${aheadSeconds >= 0 ? '+' : ''}${aheadSeconds}s`,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    server.start({ wal_level: 'logical', fsync: 'off', autovacuum_naptime: '5s' }, aheadSeconds ? clock : {})
    started.push(server)
    await shop.add(name, `postgres://tillbridge@127.0.0.1:${place.port}/postgres`)
  }

  before(async () => {
    shop = await startSpread()
    await add('right', 0)
    await add('ahead', 4)
    await add('behind', -0.7)
  })
  after(async () => {
    await shop?.stop()
    for (const server of started) server.stop()
  })

  for (const [name, label] of [
    ['ahead', 'is 4 s ahead'],
    ['behind', 'is 0.7 s behind'],
  ] as const)
    test(`a move misses nothing if the target's clock ${label}`, async () => {
      const service = `to-${name}`
      const unlimited = ['readsPerMinute=off', 'writesPerMinute=off']
      const caller = callerOf(shop, await shop.place(service, 'right', ...unlimited))
      const writers = [writing(caller), writing(caller)]
      const [changes, list] = [followingChanges(caller), followingList(caller)]
      await delay(500)
      assert.match(await shop.move(service, name), /Writes paused for [0-4]\.\d s/)
      const ids = (await Promise.all(writers.map(writer => writer.end()))).flatMap(writer => writer.ids)
      const followed = await changes.end()
      assert.deepEqual(followed.map(({ id }) => id).toSorted(), ids.toSorted(), 'each change once')
      const timestamps = followed.map(({ changedAt }) => changedAt)
      assert.deepEqual(timestamps, timestamps.toSorted(), 'in the order of their stamps')
      const { ids: listed, instants } = await list.end()
      assert.deepEqual([...listed].toSorted(), ids.toSorted())
      assert.deepEqual(instants, instants.toSorted(), '`asOf` does not go back')
    })

  test('a move is rejected if the target clock is further behind', async () => {
    const { code, err } = await runCommand(['service', 'move', 'to-ahead', '--to', 'right'], shop.environment)
    assert.equal(code, 1)
    assert.match(err, /The clocks of ahead and right are 4\.\d s apart: set both by NTP\./)
  })
})
