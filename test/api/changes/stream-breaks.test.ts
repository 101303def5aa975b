import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { beginChange } from '../../../src/store/lists/change-timestamp.ts'
import { removeRecords } from '../../../src/store/lists/tombstones.ts'
import { type Event, openEvents } from '../../support/event-stream.ts'
import { withSlowCommits } from '../../support/postgres/slow-commits.ts'
import { waitUntil } from '../../support/processes.ts'
import { startSecondServer } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'
import { applyChange, type ChangeItem, createFollower, readExpectedCopy, toSortedObject } from './follower.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
const other = await startSecondServer(api, { environment: { HTTP2: 'true' } })
after(async () => {
  await other.stop()
  await api.stop()
})
const { db } = api

const isLastChange = ({ data = '{}' }: Event) => JSON.parse(data).id === 'last'

test('a stream resumed by `Last-Event-ID` misses and repeats nothing during writes', async () => {
  const { service } = api
  const ids = Array.from({ length: 40 }, (_, i) => `c${i}`)
  const pickId = () => ids[Math.floor(Math.random() * ids.length)]
  const pickIds = () => ids.filter(() => Math.random() < 0.1)
  let isDone = false
  const counts = { breaks: 0, events: 0, removals: 0 }
  const isEnough = () => counts.breaks > 4 && counts.events > 200 && counts.removals > 5
  // Read before the first write: a page of one change would otherwise skip it.
  const start: string = (await api.get('/changes?limit=1')).json.meta.endCursor
  const startedAt = performance.now()
  const shouldContinue = () => {
    const elapsedMs = performance.now() - startedAt
    return elapsedMs < 7_000 || (elapsedMs < 60_000 && !isEnough())
  }
  const writer = async (work: (round: number) => Promise<unknown>) => {
    for (let round = 0; shouldContinue(); round++) {
      await work(round)
      await delay(Math.random() * 40)
    }
  }
  const slowDb = withSlowCommits(db, 300)
  const followUntilDone = async (http2: boolean) => {
    const reader = createFollower(api, http2 ? 'HTTP/2' : 'HTTP/1.1')
    const received = new Set<string>()
    let lastId = start
    for (let last = false; !last; counts.breaks++) {
      const server = counts.breaks % 2 || http2 ? other : api
      const stream = await openEvents({
        at: server,
        caller: api,
        path: '/changes/stream',
        headers: { 'last-event-id': lastId },
        http2,
      })
      assert.equal(stream.status, 200)
      last = isDone
      const hasReceivedAll = () => reader.copy.has('customer last') || stream.events.some(isLastChange)
      await (last ? waitUntil(hasReceivedAll, 'the last change is sent', 60_000) : delay(Math.random() * 700))
      stream.close()
      for (const { event, data = '' } of stream.events) {
        assert.equal(event, 'change', data)
        const change: ChangeItem = JSON.parse(data)
        const name = `${change.kind} ${change.id} ${change.changedAt} ${change.action}`
        assert.ok(!received.has(name), `${name} was sent twice`)
        received.add(name)
        applyChange(reader, change)
        counts.events++
        counts.removals += Number(change.action === 'removed')
      }
      lastId = stream.lastId ?? lastId
    }
    return reader
  }
  const readers = [false, true].map(followUntilDone)
  const writing = Promise.all([
    ...[1, 2].map(number =>
      writer(round =>
        upsertCustomers(
          slowDb,
          service,
          pickIds().map(id => ({ id, firstname: `Ann ${number} ${round}` })),
        ),
      ),
    ),
    writer(round =>
      upsertStaff(
        slowDb,
        service,
        pickIds().map(id => ({ id, code: id, surname: `Lee ${round}` })),
      ),
    ),
    writer(() =>
      slowDb.transaction(async tx => {
        const change = await beginChange(tx, service, ['customer'])
        await removeRecords(tx, service, change, { list: 'customer', id: sql`id`, where: sql`id = ${pickId()}` })
      }),
    ),
  ])
  try {
    await writing
    await upsertCustomers(db, service, [{ id: 'last' }])
  } finally {
    isDone = true
  }
  const final = toSortedObject(await readExpectedCopy(api, service))
  for (const { copy, query } of await Promise.all(readers)) assert.deepEqual(toSortedObject(copy), final, query)
  assert.ok(isEnough(), JSON.stringify(counts))
})
