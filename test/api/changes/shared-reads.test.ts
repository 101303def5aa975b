import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { type EventStream, openEvents } from '../../support/event-stream.ts'
import { waitUntil } from '../../support/processes.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import type { ChangeItem } from './following.ts'

// Clients that wait in one process share one poll. Clients with the same cursor share one read and one rendered text.

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const { db } = api

const write = ({ service }: Pick<Caller, 'service'>, firstname: string, ids: readonly string[] = ['1']) =>
  upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname })),
  )

/** Returns the cursor of a client that is up to date. */
const endOf = async (reader: Pick<Caller, 'get'>, how = '') =>
  (await reader.get(`/changes?limit=1000${how}`)).json.meta.endCursor

const idsIn = (changes: readonly ChangeItem[]) => changes.map(({ kind, id }) => `${kind} ${id}`)

test('readers served together receive the same changes as single readers', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  const otherCaller = await api.createService({ readsPerMinute: 'off', timeZone: 'Pacific/Auckland' })
  const colleague = await api.createAccount('visitor', caller.service)
  await write(caller, 'Ann')
  await write(otherCaller, 'Ann')
  const queries = ['', '&records=true', '&kinds=customer', '&kinds=customer&records=true', '&kinds=staff']
  const ways = [...queries.map(how => [how, '']), ['', '&limit=1']] as [string, string][]
  const readers = await Promise.all(
    [caller, colleague, otherCaller].flatMap(reader =>
      ways.map(async ([how, limit]) => ({ by: reader, how, limit, at: await endOf(reader, how) })),
    ),
  )
  for (const round of ['first', 'second']) {
    const streams = await Promise.all(
      readers.map(({ by, how, at }) =>
        openEvents({ at: api, caller: by, path: `/changes/stream?after_cursor=${at}${how}` }),
      ),
    )
    const ask = ({ by, how, limit, at }: (typeof readers)[number], wait: number) =>
      by.get(`/changes?after_cursor=${at}${how}${limit}&wait=${wait}`)
    const waiting = readers.map(reader => ask(reader, 20))
    // Most clients wait by now; the others get the same response.
    await delay(400)
    await db.transaction(async tx => {
      const inTx = { ...db, transaction: <T>(work: (same: typeof tx) => Promise<T>) => work(tx) }
      for (const { service } of [caller, otherCaller]) {
        const people = ['1', '2'].map(id => ({ id, firstname: `${round} of ${service.name}` }))
        await upsertCustomers(inTx, service, people)
        await upsertStaff(inTx, service, [{ id: '1', code: round, surname: 'Lee' }])
      }
    })
    for (const [i, reader] of readers.entries()) {
      const { how, limit, by } = reader
      // Staff had no changes before the first turn, and no client gets them twice.
      const { json } = (await waiting[i]) as Awaited<ReturnType<typeof ask>>
      assert.deepEqual(json, (await ask(reader, 0)).json)
      assert.equal(json.meta.timeZone, by.service.settings.timeZone)
      const all = ['customer 1', 'customer 2', 'staff 1'].filter(
        name => !how.includes('kinds=') || how.includes(name.slice(0, 5)),
      )
      assert.deepEqual(idsIn(json.data), limit ? all.slice(0, 1) : all)
      const { events, close } = streams[i] as EventStream
      await waitUntil(() => events.length === all.length, 'the stream has sent as many changes')
      assert.deepEqual(
        events.slice(0, json.data.length).map(({ data = '' }) => JSON.parse(data)),
        json.data,
      )
      reader.at = await endOf(by, how)
      assert.equal(events.at(-1)?.id, reader.at)
      close()
    }
  }
})

test('a caught-up reader waits with the others and causes no query', async () => {
  const followers = 200
  const end = await endOf(api)
  const waiting = Array.from({ length: followers }, () => api.get(`/changes?wait=30&after_cursor=${end}`))
  await quiet()
  let acquireCount = 0
  const count = () => void acquireCount++
  db.pool.on('acquire', count)
  await write(api, 'Zoe')
  const responses = await Promise.all(
    waiting.map(async response => {
      const { json } = await response
      assert.deepEqual(idsIn(json.data), ['customer 1'])
      return (await api.get(`/changes?wait=1&after_cursor=${json.meta.endCursor}`)).json
    }),
  )
  db.pool.off('acquire', count)
  for (const { data } of responses) assert.deepEqual(data, [])
  assert.ok(acquireCount < followers / 2, `${acquireCount} statements`)
})

test('a slow reader delays no other reader and receives everything in order', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  const open = () => openEvents({ at: api, caller, path: '/changes/stream?records=true&kinds=customer' })
  const [slow, ...otherStreams] = await Promise.all([open(), open(), open()])
  slow.pause()
  const ids = Array.from({ length: 1_000 }, (_, i) => `c${i}`)
  const hasReceived = ({ events }: EventStream, id: string) =>
    events.some(({ data = '' }) => JSON.parse(data).id === id)
  // In total more than can be buffered for a client that doesn't read.
  for (let round = 0; round < 4; round++) {
    await write(caller, `${round}`.repeat(4_000), [...ids, `last of ${round}`])
    for (const other of otherStreams)
      await waitUntil(() => hasReceived(other, `last of ${round}`), 'the other readers get the last change', 20_000)
  }
  slow.resume()
  await waitUntil(() => hasReceived(slow, 'last of 3'), 'the slow reader gets everything', 20_000)
  const { json } = await caller.get('/changes?kinds=customer&limit=1000')
  const { json: remaining } = await caller.get(`/changes?kinds=customer&limit=1000&after_cursor=${json.meta.endCursor}`)
  const status = new Map([...json.data, ...remaining.data].map(({ id, changedAt }: ChangeItem) => [id, changedAt]))
  for (const { events, close } of [slow, ...otherStreams]) {
    const change = events.map(({ data = '' }) => JSON.parse(data) as ChangeItem)
    const timestamps = change.map(({ changedAt }) => changedAt)
    assert.deepEqual(timestamps, timestamps.toSorted())
    assert.deepEqual(new Map(change.map(({ id, changedAt }) => [id, changedAt])), status)
    close()
  }
  for (const { events } of otherStreams)
    assert.ok(slow.events.length < events.length, 'records that changed repeatedly are sent once')
})

/** Until all have begun to wait: only looks are left. */
async function quiet() {
  for (let acquireCount = Number.POSITIVE_INFINITY; acquireCount > 6; ) {
    acquireCount = 0
    const count = () => void acquireCount++
    db.pool.on('acquire', count)
    await delay(500)
    db.pool.off('acquire', count)
  }
}
