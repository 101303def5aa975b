import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { upsertStaff } from '../../../src/store/catalog/staff.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { type EventStream, openEvents } from '../../support/event-stream.ts'
import { waitUntil } from '../../support/processes.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import type { ChangeItem } from './follower.ts'

// Clients that wait in one process share one poll. Clients with the same cursor share one query and one serialized response.

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
const getEndCursor = async (reader: Pick<Caller, 'get'>, filter = '') =>
  (await reader.get(`/changes?limit=1000${filter}`)).json.meta.endCursor

const formatChanges = (changes: readonly ChangeItem[]) => changes.map(({ kind, id }) => `${kind} ${id}`)

test('readers served together receive the same changes as single readers', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  const otherCaller = await api.createService({ readsPerMinute: 'off', timeZone: 'Pacific/Auckland' })
  const colleague = await api.createAccount('visitor', caller.service)
  await write(caller, 'Ann')
  await write(otherCaller, 'Ann')
  const queries = ['', '&records=true', '&kinds=customer', '&kinds=customer&records=true', '&kinds=staff']
  const variants = [...queries.map(filter => [filter, '']), ['', '&limit=1']] as [string, string][]
  const readers = await Promise.all(
    [caller, colleague, otherCaller].flatMap(reader =>
      variants.map(async ([filter, limit]) => ({
        client: reader,
        filter,
        limit,
        cursor: await getEndCursor(reader, filter),
      })),
    ),
  )
  for (const round of ['first', 'second']) {
    const streams = await Promise.all(
      readers.map(({ client, filter, cursor }) =>
        openEvents({ at: api, caller: client, path: `/changes/stream?after_cursor=${cursor}${filter}` }),
      ),
    )
    const read = ({ client, filter, limit, cursor }: (typeof readers)[number], wait: number) =>
      client.get(`/changes?after_cursor=${cursor}${filter}${limit}&wait=${wait}`)
    const pendingResponses = readers.map(reader => read(reader, 20))
    // Most clients wait by now. The other clients must get the same response.
    await delay(400)
    await db.transaction(async tx => {
      const dbInTransaction = { ...db, transaction: <T>(work: (same: typeof tx) => Promise<T>) => work(tx) }
      for (const { service } of [caller, otherCaller]) {
        const people = ['1', '2'].map(id => ({ id, firstname: `${round} of ${service.name}` }))
        await upsertCustomers(dbInTransaction, service, people)
        await upsertStaff(dbInTransaction, service, [{ id: '1', code: round, surname: 'Lee' }])
      }
    })
    for (const [i, reader] of readers.entries()) {
      const { filter, limit, client } = reader
      // Staff had no changes before the first round, and no client gets a change twice.
      const { json } = (await pendingResponses[i]) as Awaited<ReturnType<typeof read>>
      assert.deepEqual(json, (await read(reader, 0)).json)
      assert.equal(json.meta.timeZone, client.service.settings.timeZone)
      const all = ['customer 1', 'customer 2', 'staff 1'].filter(
        name => !filter.includes('kinds=') || filter.includes(name.slice(0, 5)),
      )
      assert.deepEqual(formatChanges(json.data), limit ? all.slice(0, 1) : all)
      const { events, close } = streams[i] as EventStream
      await waitUntil(() => events.length === all.length, 'the stream has sent all changes')
      assert.deepEqual(
        events.slice(0, json.data.length).map(({ data = '' }) => JSON.parse(data)),
        json.data,
      )
      reader.cursor = await getEndCursor(client, filter)
      assert.equal(events.at(-1)?.id, reader.cursor)
      close()
    }
  }
})

test('a caught-up reader waits with the others and causes no query', async () => {
  const followers = 200
  const end = await getEndCursor(api)
  const pendingResponses = Array.from({ length: followers }, () => api.get(`/changes?wait=30&after_cursor=${end}`))
  await waitUntilIdle()
  let acquireCount = 0
  const count = () => void acquireCount++
  db.pool.on('acquire', count)
  await write(api, 'Zoe')
  const responses = await Promise.all(
    pendingResponses.map(async response => {
      const { json } = await response
      assert.deepEqual(formatChanges(json.data), ['customer 1'])
      return (await api.get(`/changes?wait=1&after_cursor=${json.meta.endCursor}`)).json
    }),
  )
  db.pool.off('acquire', count)
  for (const { data } of responses) assert.deepEqual(data, [])
  // Jobs and limits cause some statements, and more of them on a busy machine.
  assert.ok(acquireCount < followers, `${acquireCount} statements`)
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

/** Waits until all requests wait, so that only polls use the database. */
async function waitUntilIdle() {
  for (let acquireCount = Number.POSITIVE_INFINITY; acquireCount > 6; ) {
    acquireCount = 0
    const count = () => void acquireCount++
    db.pool.on('acquire', count)
    await delay(500)
    db.pool.off('acquire', count)
  }
}
