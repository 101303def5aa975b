import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { finishesWithin } from '../../../src/concurrency/backoff.ts'
import { sql } from '../../../src/database/db.ts'
import { revoke } from '../../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { type EventStream, openEvents } from '../../support/event-stream.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { buildCredentialLines, openTls, startSecondServer } from '../../support/servers.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
const withHttp2 = await startSecondServer(api, { environment: { HTTP2: 'true' } })
after(async () => {
  await withHttp2.stop()
  await api.stop()
})
const { db } = api

const write = (id: string, firstname: string, { service }: Pick<Caller, 'service'> = api) =>
  upsertCustomers(db, service, [{ id, firstname }])
const open = (path = '/changes/stream', caller: Caller = api, headers = {}) =>
  openEvents({ at: api, caller, path, headers })
const readNext = async (stream: EventStream) => JSON.parse((await stream.next()).data ?? '')
const createEmptyService = () => api.createService({ readsPerMinute: 'off' })

for (const http2 of [false, true])
  test(`a stream over HTTP/${http2 ? 2 : '1.1'} sends each change with its cursor`, async () => {
    const caller = await createEmptyService()
    await write('1', 'Ann', caller)
    const stream = await openEvents({
      at: withHttp2,
      caller,
      path: '/changes/stream?kinds=customer&records=true',
      http2,
    })
    assert.equal(stream.status, 200)
    assert.equal(stream.headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.deepEqual([stream.headers['x-accel-buffering'], stream.headers['cache-control']], ['no', 'no-store'])
    await delay(300)
    assert.deepEqual(stream.events, [], 'a new stream must not send earlier changes')
    const [committed] = [performance.now(), await write('2', 'Bea', caller)]
    const event = await stream.next()
    assert.ok(performance.now() - committed < 5_000, `${performance.now() - committed} ms`)
    assert.equal(event.event, 'change')
    const listed = await caller.get('/changes?kinds=customer&records=true')
    assert.deepEqual(JSON.parse(event.data ?? ''), listed.json.data[1])
    assert.equal(event.id, listed.json.meta.endCursor)
    await write('3', 'Zoe', caller)
    const { json } = await caller.get(`/changes?kinds=customer&wait=20&after_cursor=${event.id}`)
    assert.equal((await readNext(stream)).id, json.data[0].id)
    stream.close()
  })

test('a stream resumes after its cursor and `Last-Event-ID` overrides `after_cursor`', async () => {
  const caller = await createEmptyService()
  for (const id of ['1', '2', '3']) await write(id, 'Ann', caller)
  const [first, second] = await Promise.all(
    [1, 2].map(async limit => (await caller.get(`/changes?limit=${limit}`)).json.meta.endCursor),
  )
  const path = `/changes/stream?after_cursor=${first}`
  const streams = [await open(path, caller), await open(path, caller, { 'last-event-id': second })]
  assert.equal((await readNext(streams[0] as EventStream)).id, '2')
  assert.equal((await readNext(streams[1] as EventStream)).id, '3')
  for (const stream of streams) stream.close()
  const stream = await open(path, caller, { 'last-event-id': '' })
  assert.equal((await readNext(stream)).id, '2', 'an empty header must be ignored')
  stream.close()
  // Nothing changed while the stream was open, but its last ID still marks where the next stream resumes.
  const idle = await open('/changes/stream', caller)
  await delay(200)
  idle.close()
  await write('4', 'Ann', caller)
  const next = await open('/changes/stream', caller, { 'last-event-id': idle.lastId })
  assert.equal((await readNext(next)).id, '4')
  next.close()
})

test('an invalid stream request is rejected before the first byte', async () => {
  const getStream = (query: string, headers = {}) => api.get(`/changes/stream${query}`, headers)
  const assertStreamRejected = async (
    code: Parameters<typeof assertProblem>[1],
    response: ReturnType<typeof getStream>,
  ) => assertProblem(await response, code, api.baseUrl, '/changes/stream')
  await assertStreamRejected('invalid_parameter', getStream('?kinds=vouchers'))
  await assertStreamRejected('invalid_parameter', getStream('?limit=5'))
  await assertStreamRejected('invalid_cursor', getStream('?after_cursor=AAAA'))
  const malformedId = getStream('', { 'last-event-id': 'AAAA' })
  await assertStreamRejected('invalid_cursor', malformedId)
  assert.match((await malformedId).json.detail, /^`Last-Event-ID`/)
  await assertStreamRejected('invalid_credentials', getStream('', { authorization: undefined }))
  await assertStreamRejected('not_acceptable', getStream('', { accept: 'application/json' }))
  await write('1', 'Ann')
  const { endCursor } = (await api.get('/changes')).json.meta
  await db.run(
    sql`insert into tombstone_purge select service_id, 'customer', now() + interval '1 day' from service where service_id = ${api.service.id}`,
  )
  await assertStreamRejected('cursor_expired', getStream(`?after_cursor=${endCursor}`))
  await db.run(sql`delete from tombstone_purge`)
})

test('a cursor that expires during a stream ends it with `error`', async () => {
  const caller = await createEmptyService()
  await write('1', 'Ann', caller)
  const stream = await open('/changes/stream', caller)
  await db.run(sql`insert into tombstone_purge values (${caller.service.id}, 'customer', now() + interval '1 day')`)
  await write('2', 'Ann', caller)
  const { event, data = '' } = await stream.next()
  assert.deepEqual([event, JSON.parse(data).code], ['error', 'cursor_expired'])
  assert.equal(JSON.parse(data).requestId, stream.headers['x-request-id'])
  await stream.ended
})

test('an account can have ten streams; closing one makes room', async () => {
  const caller = await createEmptyService()
  const streams = await Promise.all(Array.from({ length: 10 }, () => open('/changes/stream', caller)))
  const response = await caller.get('/changes/stream')
  assertProblem(response, 'too_many_streams', api.baseUrl, '/changes/stream')
  assert.ok(Number(response.headers['retry-after']) > 0)
  const other = await open('/changes/stream', await api.createAccount('visitor', caller.service))
  assert.equal(other.status, 200)
  streams[0]?.close()
  await delay(200)
  for (let i = 0; i < 3; i++)
    assert.equal((await caller.request('/changes/stream', { method: 'HEAD' })).headers['x-accel-buffering'], 'no')
  const eleventh = await open('/changes/stream', caller)
  assert.equal(eleventh.status, 200)
  for (const stream of [...streams, other, eleventh]) stream.close()
})

test('a client that leaves before the stream starts leaves no open stream', async () => {
  const caller = await createEmptyService()
  const head = `Host: localhost\r\n${buildCredentialLines(caller)}\r\n`
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openTls(api)))
  // The clients disconnect before the password check ends.
  for (const socket of sockets) socket.write(`GET /changes/stream HTTP/1.1\r\n${head}`)
  await delay(10)
  for (const socket of sockets) socket.destroy()
  await waitUntil(async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => open('/changes/stream', caller)))
    for (const stream of streams) stream.close()
    return streams.every(({ status }) => status === 200)
  }, 'the account can open all its streams again')
})

test('a stream counts as one request', async () => {
  const caller = await api.createService({ readsPerMinute: 2 })
  const stream = await open('/changes/stream', caller)
  await write('1', 'Ann', caller)
  await write('2', 'Ann', caller)
  await Promise.all([stream.next(), stream.next()])
  assert.match((await caller.get('/changes')).headers.ratelimit?.toString() ?? '', /r=0;/)
  stream.close()
})

test('a stream contains changes of its own service only', async () => {
  const [first, other] = [await createEmptyService(), await createEmptyService()]
  const [own, foreign] = [await open('/changes/stream', first), await open('/changes/stream', other)]
  await write('1', 'Ann', other)
  assert.equal((await readNext(foreign)).id, '1')
  await delay(500)
  assert.deepEqual(own.events, [])
  for (const stream of [own, foreign]) stream.close()
})

test('all streams end immediately at shutdown', async () => {
  const server = await startSecondServer(api, { environment: { HTTP2: 'true' } })
  const streams = await Promise.all(
    [false, true].map(http2 => openEvents({ at: server, caller: api, path: '/changes/stream', http2 })),
  )
  await delay(300)
  const from = performance.now()
  await server.stop()
  assert.ok(performance.now() - from < 900, `${performance.now() - from} ms`)
  await Promise.all(streams.map(({ ended }) => ended))
})

// These tests mostly wait, so they run concurrently.
describe('streams over time', { concurrency: true }, () => {
  test('a revoked account loses its stream within 5 seconds, even if idle', async () => {
    const caller = await createEmptyService()
    const stream = await open('/changes/stream', caller)
    await delay(1_000)
    const from = performance.now()
    await revoke(db, caller.username, { all: true })
    await stream.ended
    assert.ok(performance.now() - from < 5_000, `${performance.now() - from} ms`)
    assert.equal(JSON.parse((await stream.next()).data ?? '').code, 'invalid_credentials')
  })

  test('an idle stream sends a comment with its cursor every 15 seconds', async () => {
    const stream = await open('/changes/stream', await createEmptyService())
    const countComments = () => stream.text.split('\n\n').length - 1
    await delay(13_000)
    assert.equal(countComments(), 1)
    await waitUntil(async () => countComments() > 1, 'a second comment arrives', 20_000)
    assert.match(stream.text, /^:\nid: \S+\n\n:\nid: \S+\n\n$/)
    stream.close()
  })

  test('a client that does not read is disconnected and buffered within bounds', async () => {
    const caller = await createEmptyService()
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ id: `c${i}`, firstname: 'x'.repeat(100) }))
    const { endCursor } = (await caller.get('/changes')).json.meta
    for (let i = 0; i < rows.length; i += 5_000) await upsertCustomers(db, caller.service, rows.slice(i, i + 5_000))
    const socket = await openTls(api, { ALPNProtocols: ['http/1.1'] })
    socket.pause()
    const path = `/changes/stream?records=true&after_cursor=${endCursor}`
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${buildCredentialLines(caller)}\r\n`)
    // A client can leave data unread for 20 s. The rest is for a busy machine, on which the first data comes later.
    await delay(45_000)
    let size = 0
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket
      .on('error', () => {})
      .on('data', data => {
        size += data.length
      })
    socket.resume()
    assert.ok(await finishesWithin(closed, 60_000), 'the client must be disconnected')
    // All changes together are more than twice as large, so the server stopped reading them.
    assert.ok(size > 100_000 && size < 8_000_000, `${size} bytes were buffered`)
  })
})
