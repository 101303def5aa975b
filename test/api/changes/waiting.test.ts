import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { assertProblem } from '../../support/problem.ts'
import { buildCredentials, startSecondServer } from '../../support/servers.ts'
import { startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const { db } = api

const write = (id: string, firstname: string, service = api.service) =>
  upsertCustomers(db, service, [{ id, firstname }])
/** Returns the cursor of a client that is up to date. */
const getEndCursor = async (reader: Pick<typeof api, 'get'> = api, query = '') =>
  (await reader.get(`/changes?limit=1000${query}`)).json.meta.endCursor

/** Maximum statements per second of a process without waiting clients. A poll takes eight. */
const maxIdleStatements = 2

const measure = async <T>(work: Promise<T>) => {
  const from = performance.now()
  return { response: await work, ms: performance.now() - from }
}

test('a waiting request returns as soon as a change is committed', async () => {
  await write('1', 'Ann')
  const end = await getEndCursor()
  const waiting = measure(api.get(`/changes?wait=20&after_cursor=${end}`))
  await delay(600)
  const committed = performance.now()
  await write('2', 'Bea')
  const { response } = await waiting
  assert.ok(performance.now() - committed < 1_000, `${performance.now() - committed} ms`)
  assert.deepEqual(
    response.json.data.map(({ id }: { id: string }) => id),
    ['2'],
  )
  const { response: next, ms } = await measure(api.get(`/changes?wait=1&after_cursor=${response.json.meta.endCursor}`))
  assert.deepEqual([next.status, next.json.data, next.json.meta.hasNextPage], [200, [], false])
  assert.equal(next.json.meta.endCursor, response.json.meta.endCursor)
  assert.ok(ms > 950 && ms < 3_000, `${ms} ms`)
})

test('a response waits only if it is empty and `wait` is set', async () => {
  await write('1', 'Eve')
  assert.ok((await measure(api.get('/changes?wait=30'))).ms < 3_000)
  assert.ok((await measure(api.get(`/changes?after_cursor=${await getEndCursor()}`))).ms < 3_000)
  assertProblem(await api.get('/changes?wait=31'), 'invalid_parameter', api.baseUrl, '/changes')
})

test('a reader from the beginning receives everything despite tombstones and waiting readers', async () => {
  const caller = await api.createService()
  for (const id of ['1', '2', '3', '4']) await write(id, 'Ann', caller.service)
  assert.equal((await caller.request('/customers/4', { method: 'DELETE' })).status, 200)
  // This request makes the process load the newest change timestamps.
  const end = await getEndCursor(caller)
  const otherWait = caller.get(`/changes?wait=5&after_cursor=${end}`)
  await delay(600)
  const change: string[] = []
  for (let cursor = ''; ; ) {
    const { data, meta } = (await caller.get(`/changes?limit=1&wait=1&kinds=customer${cursor}`)).json
    change.push(...data.map(({ id }: { id: string }) => id))
    if (!meta.hasNextPage && !data.length) break
    cursor = `&after_cursor=${meta.endCursor}`
  }
  assert.deepEqual(change, ['1', '2', '3'])
  await otherWait
})

test('a request that waits on an empty service returns the first record', async () => {
  const caller = await api.createService()
  const waiting = caller.get('/changes?wait=20')
  await delay(300)
  await write('1', 'Ann', caller.service)
  assert.equal((await waiting).json.data[0].id, '1')
})

test('a waiting request returns only changes of its own service and types', async () => {
  const other = await api.createService()
  const waiting = [
    api.get(`/changes?wait=2&kinds=store&after_cursor=${await getEndCursor(api, '&kinds=store')}`),
    other.get('/changes?wait=2'),
  ]
  await delay(300)
  await write('1', 'Zoe')
  for (const { json } of await Promise.all(waiting)) assert.deepEqual(json.data, [])
})

test('a change delayed by an open transaction is delivered on its commit', async () => {
  const end = await getEndCursor()
  const waiting = api.get(`/changes?wait=20&after_cursor=${end}`)
  await db.transaction(async tx => {
    const dbInTransaction = { ...db, transaction: <T>(work: (same: typeof tx) => Promise<T>) => work(tx) }
    await upsertCustomers(dbInTransaction, api.service, [{ id: '3', firstname: 'Ida' }])
    await delay(700)
  })
  assert.equal((await waiting).json.data[0].id, '3')
})

test('a waiting request holds no connection and all share one poll', async () => {
  const end = await getEndCursor()
  const waiting = Array.from({ length: 100 }, () => api.get(`/changes?wait=8&after_cursor=${end}`))
  // Wait until all requests wait.
  while ((await countStatements(500)) > 6);
  const { pool } = db
  let busy = 0
  const statements = await countStatements(1_000, () => {
    busy = Math.max(busy, pool.totalCount - pool.idleCount)
  })
  // The process also runs three queries of its own, each about once per second.
  assert.ok(
    statements > 2 && statements <= 13,
    `${statements} statements instead of four or five polls of two statements`,
  )
  assert.ok(busy <= 2, `${busy} connections`)
  await Promise.all(waiting)
  await delay(1_500)
  assert.ok((await countStatements(1_000)) <= maxIdleStatements, 'the process polls, but no client waits')
})

test('a wait ends when its client disconnects and polling stops', async () => {
  const { port } = new URL(api.baseUrl)
  const headers = buildCredentials(api)
  const path = `/changes?wait=30&after_cursor=${await getEndCursor()}`
  const clientRequest = request({ host: 'localhost', port, ca: api.ca, path, headers, agent: false })
  clientRequest.on('error', () => {}).end()
  assert.ok((await countStatements(1_000)) > maxIdleStatements)
  clientRequest.destroy()
  await delay(2_000)
  assert.ok((await countStatements(1_000)) <= maxIdleStatements)
})

test('a waiting request returns immediately with its cursor at shutdown', async () => {
  const server = await startSecondServer(api)
  const end = await getEndCursor()
  const waiting = server.sendRequest(`/changes?wait=30&after_cursor=${end}`, { headers: buildCredentials(api) })
  await delay(500)
  const { ms } = await measure(server.stop())
  const { status, json } = await waiting
  assert.deepEqual([status, json.data, json.meta.endCursor], [200, [], end])
  assert.ok(ms < 900, `${ms} ms`)
})

/** Counts the statements that the database receives within this many milliseconds. */
async function countStatements(ms: number, onStatement = () => {}) {
  let count = 0
  const onAcquire = () => {
    count++
    onStatement()
  }
  db.pool.on('acquire', onAcquire)
  await delay(ms)
  db.pool.off('acquire', onAcquire)
  return count
}
