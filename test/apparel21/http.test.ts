import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Simulator } from '../../simulator/control/handle.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { makeBreaker } from '../../src/backoffice/apparel21/calls/breaker.ts'
import { makeBulkhead } from '../../src/backoffice/apparel21/calls/bulkhead.ts'
import { type Client, openClient } from '../../src/backoffice/apparel21/calls/client.ts'
import type { Connection, Limits } from '../../src/backoffice/apparel21/calls/connection.ts'
import { refusalBehind } from '../../src/backoffice/apparel21/calls/refusal.ts'
import { idIn } from '../../src/backoffice/apparel21/calls/request.ts'
import { makeRetryBudget } from '../../src/backoffice/apparel21/calls/retries.ts'
import { ApiError, type ErrorCode } from '../../src/errors.ts'
import { localCertificate } from '../../src/tls/tls.ts'

let simulator: Simulator
before(async () => {
  simulator = await startSimulator({ settings: { credentials: { user: 'till', password: 'bridge' } } })
})
after(() => simulator.close())

let clients: Client[] = []
const logged: string[] = []
afterEach(() => {
  for (const client of clients) client.close()
  clients = []
  simulator.faults.clear()
  simulator.ledger.clear()
})

function open(limits: Partial<Limits> = {}, connection: Partial<Connection> = {}): Client {
  const note = (facts: object, message: string) => logged.push(JSON.stringify({ ...facts, message }))
  const client = openClient({
    url: simulator.url,
    countryCode: 'AU',
    username: 'till',
    password: 'bridge',
    timeZone: 'Australia/Melbourne',
    limits: { deadlineMs: 3_000, ...limits },
    log: { info: note, warn: note },
    ...connection,
  })
  clients.push(client)
  return client
}

const stores = { endpoint: 'stores', path: ['Stores'], roots: ['Stores'] } as const
const lock = {
  endpoint: 'voucherLock',
  method: 'PUT',
  path: ['Voucher', 'Lock', '1'],
  query: { ValidationId: 'x' },
} as const

/** Asserts that a call fails with this code; returns the error. */
async function fails(call: Promise<unknown>, code: ErrorCode): Promise<ApiError> {
  const error = await call.then(
    () => assert.fail('it succeeds'),
    error => error,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code, String(error.cause))
  return error
}

/** A server of our own; `url` is its base. */
async function serve(listener: RequestListener, secure?: { cert: string; key: string }) {
  const server = secure ? createSecureServer(secure, listener) : createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}/RetailAPI`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const oneStore = '<Stores><Store><StoreId>1</StoreId></Store></Stores>'

test('every call names the country, the payload version and who calls, and passes the trace on', async () => {
  const seen: { url: string | undefined; headers: Record<string, unknown> }[] = []
  const server = await serve((request, response) => {
    seen.push({ url: request.url, headers: request.headers })
    response.end(oneStore)
  })
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const client = open({}, { url: server.url, countryCode: 'AU-GA-IO' })
  await client.document({
    ...stores,
    version: 4,
    traceparent,
    path: ['Stores', '1-2_b'],
    query: { email: 'a+b@example.com' },
  })
  await client.document({ ...stores, traceparent: `${traceparent}\r\nx: y` })
  await open({}, { url: `${server.url}/`, username: undefined, password: undefined }).document(stores)
  assert.deepEqual(
    seen.map(({ url }) => url),
    [
      '/RetailAPI/Stores/1-2_b?countryCode=AU-GA-IO&email=a%2Bb%40example.com',
      '/RetailAPI/Stores?countryCode=AU-GA-IO',
      '/RetailAPI/Stores?countryCode=AU',
    ],
  )
  const headers = seen.map(({ headers: { accept, authorization, 'content-type': type, traceparent } }) => [
    ...[accept, authorization, type, traceparent],
  ])
  const basic = `Basic ${Buffer.from('till:bridge').toString('base64')}`
  assert.deepEqual(headers, [
    ['version_4.0', basic, 'text/xml', traceparent],
    ['version_2.0', basic, 'text/xml', undefined],
    ['version_2.0', undefined, 'text/xml', undefined],
  ])
  await server.close()
})

test('what no identifier can be is nobody’s, and asks nothing: a path is never another one', async t => {
  const seen: (string | undefined)[] = []
  const server = await serve((request, response) => {
    seen.push(request.url)
    response.end(oneStore)
  })
  t.after(() => server.close())
  const client = open({}, { url: server.url })
  for (const id of [
    '.',
    '..',
    '',
    '%2e%2e',
    '%2E%2E/Persons',
    '..%2f',
    'a/b',
    'a\\..\\b',
    '../Voucher',
    '3001?x=1',
    '3001#',
    '٣',
    '1\n',
  ]) {
    const path = ['Stores', id]
    assert.equal(await client.document({ ...stores, path }), undefined, id)
    const { root, records } = await client.list({ ...stores, path, record: 'Store' })
    assert.deepEqual([root, await Array.fromAsync(records)], [undefined, []], id)
    await fails(client.write({ ...lock, path: ['Voucher', 'Lock', id] }), 'validation_id_incorrect')
    await fails(
      client.write({ ...lock, endpoint: 'orders', method: 'POST', path: ['Persons', id, 'Orders'] }),
      'not_found',
    )
  }
  assert.deepEqual(seen, [])
})

test('no data is an answer, and a refusal is told in our words with its code behind it', async () => {
  const client = open()
  assert.equal(await client.document({ endpoint: 'persons', path: ['Persons', '9'], roots: ['Person'] }), undefined)
  const { root } = await client.list({
    endpoint: 'persons',
    path: ['Persons'],
    query: { email: 'nobody@example.test' },
    roots: ['Persons'],
    record: 'Person',
  })
  assert.equal(root, undefined)
  const error = await fails(
    client.document({ endpoint: 'voucher', path: ['Voucher', '1'], query: { pin: '4711' }, roots: ['Voucher'] }),
    'voucher_not_accepted',
  )
  assert.equal(refusalBehind(error)?.code, 5056)
  simulator.faults.add({ kind: 'error', code: 5999, description: 'ORA-00942: table PIN 4711' })
  const surprise = await fails(client.document(stores), 'back_office_error')
  assert.doesNotMatch(surprise.message, /ORA|5999/)
  const log = logged.join('\n')
  assert.match(log, /5999/)
  assert.match(log, /pin=\*\*\*/)
  assert.doesNotMatch(log, /4711|nobody|ORA|till|bridge/)
})

test('a bare 404 is no data, a page of the web server with that status is a fault', async () => {
  const server = await serve((_, response) => {
    response.statusCode = 404
    response.end()
  })
  assert.equal(await open({}, { url: server.url }).document(stores), undefined)
  simulator.faults.add({ kind: 'html', status: 404 })
  await fails(open().document(stores), 'back_office_error')
  await server.close()
})

test('what is no answer of this system is 502, and nothing of it passes through', async () => {
  for (const fault of [
    { kind: 'html', status: 500 },
    { kind: 'html', status: 200 },
    { kind: 'redirect', location: 'http://elsewhere.invalid/' },
    { kind: 'wrong-root' },
    { kind: 'malformed' },
    { kind: 'truncated' },
    { kind: 'dtd' },
    { kind: 'empty-body' },
  ] as const) {
    simulator.faults.clear()
    simulator.faults.add(fault)
    const error = await fails(open().document(stores), 'back_office_error')
    assert.doesNotMatch(error.message, /<|http|html/i, fault.kind)
  }
})

test('a redirect is not followed', async () => {
  let asked = 0
  const elsewhere = await serve((_, response) => {
    asked++
    response.end(oneStore)
  })
  simulator.faults.add({ kind: 'redirect', location: elsewhere.url })
  await fails(open().document(stores), 'back_office_error')
  assert.equal(asked, 0)
  await elsewhere.close()
})

test('oddities that change no meaning are read', async () => {
  const expected = await open().document(stores)
  for (const kind of [
    'bom',
    'no-declaration',
    'extra-elements',
    'trailing-blanks',
    'carriage-returns',
    'reordered',
  ] as const) {
    simulator.faults.clear()
    simulator.faults.add({ kind })
    const found = await open().document(stores)
    assert.equal(found?.children.filter(({ name }) => name === 'Store').length, expected?.children.length, kind)
  }
})

test('a read that fails is repeated once, and only once', async () => {
  for (const kind of ['reset-before', 'reset-during', 'malformed', 'truncated'] as const) {
    simulator.faults.clear()
    simulator.ledger.clear()
    const once = simulator.faults.add({ kind, times: 1 })
    await open().document(stores)
    assert.deepEqual([kind, once.met, simulator.ledger.calls.length], [kind, 1, 2])
    simulator.faults.add({ kind })
    await open()
      .document(stores)
      .then(
        () => assert.fail('it succeeds'),
        () => {},
      )
    assert.deepEqual([kind, simulator.ledger.calls.length], [kind, 4])
  }
  for (const status of [502, 504]) {
    simulator.faults.clear()
    simulator.faults.add({ kind: 'html', status, times: 1 })
    await open().document(stores)
  }
})

test('a write is never repeated: what may have been done is unknown, what was not sent is unavailable', async () => {
  for (const [kind, code] of [
    ['reset-before', 'outcome_unknown'],
    ['lost-answer', 'outcome_unknown'],
    ['hang', 'outcome_unknown'],
    ['html', 'outcome_unknown'],
    ['status', 'back_office_unavailable'],
    ['redirect', 'back_office_error'],
  ] as const) {
    simulator.faults.clear()
    simulator.ledger.clear()
    simulator.faults.add({ kind })
    await fails(open({ deadlineMs: 500 }).write(lock), code)
    assert.deepEqual([kind, simulator.ledger.calls.length], [kind, 1])
  }
  simulator.faults.clear()
  await fails(open().write(lock), 'validation_id_incorrect')
  await simulator.refuse()
  const error = await fails(open().write(lock), 'back_office_unavailable')
  assert.ok(Number(error.headers['retry-after']) >= 1)
  await simulator.accept()
})

test('a write answers with the identifier of what it made', async () => {
  const server = await serve((request, response) => {
    assert.equal(request.headers.connection, 'close')
    response.writeHead(201, { location: 'http://retail.example/RetailAPI/Persons/3001?countryCode=AU' }).end()
  })
  const client = open({}, { url: server.url })
  const made = await client.write({ endpoint: 'persons', method: 'POST', path: ['Persons'], body: '<Person />' })
  assert.deepEqual(made, { status: 201, id: '3001' })
  assert.deepEqual(['/a/b/7/?x=/9', '/a/7', 'http://x/a/../', undefined, ''].map(idIn), [
    '7',
    '7',
    undefined,
    undefined,
    undefined,
  ])
  await server.close()
})

test('a back office that refuses connections is 503 with Retry-After', async () => {
  const client = open()
  await client.document(stores)
  await simulator.refuse()
  const error = await fails(client.document(stores), 'back_office_unavailable')
  assert.ok(Number(error.headers['retry-after']) >= 1)
  assert.doesNotMatch(error.message, /127|ECONN/)
  await simulator.accept()
  await client.document(stores)
})

test('the deadline is for the whole of a call, not only for silence', async () => {
  for (const fault of [
    { kind: 'hang' },
    { kind: 'slow', bytesPerSecond: 20 },
    { kind: 'latency', seconds: 60 },
  ] as const) {
    simulator.faults.clear()
    simulator.faults.add(fault)
    const began = performance.now()
    await fails(open({ deadlineMs: 600 }).document(stores), 'back_office_unavailable')
    const took = performance.now() - began
    assert.ok(took >= 590 && took < 2_500, `${fault.kind}: ${took} ms`)
  }
})

test('a body that is too large, or never ends, is cut off', async () => {
  simulator.faults.add({ kind: 'endless', path: '/Freestock/AllStyles' })
  const client = open({ bulkBytes: 3 * 1024 ** 2, answerBytes: 1024 ** 2 })
  const asking = { endpoint: 'stock', path: ['Freestock', 'AllStyles'], roots: ['FreeStock'] } as const
  await fails(client.document(asking), 'back_office_error')
  await fails(
    client
      .list({ ...asking, record: 'Style', size: 'bulk' })
      .then(({ records }) => Array.fromAsync(records, record => record.name)),
    'back_office_error',
  )
})

test('wrong credentials are not tried again and again', async () => {
  const heard: string[] = []
  const onCredentials = (state: string) => heard.push(state)
  const client = open({}, { password: 'wrong', onCredentials })
  for (let i = 0; i < 2; i++) {
    const error = await fails(client.document(stores), 'back_office_unavailable')
    assert.ok(Number(error.headers['retry-after']) > 40)
  }
  assert.equal(simulator.ledger.calls.length, 1)
  const other = open({}, { onCredentials })
  await other.document(stores)
  await other.document(stores)
  assert.deepEqual(heard, ['refused', 'accepted'])
})

test('Retry-After is obeyed: waited out when it is short, passed on when it is long', async () => {
  simulator.faults.add({ kind: 'status', status: 429, retryAfter: 1, times: 1 })
  const client = open()
  const began = performance.now()
  await client.document(stores)
  assert.ok(performance.now() - began >= 1_000)
  simulator.faults.add({ kind: 'status', status: 503, retryAfter: 30, times: 1 })
  simulator.ledger.clear()
  for (let i = 0; i < 3; i++) {
    const error = await fails(client.document(stores), 'back_office_unavailable')
    assert.ok(Number(error.headers['retry-after']) > 28)
  }
  assert.equal(simulator.ledger.calls.length, 1)
})

test('the breaker opens after failures in a row, lets one call try, and closes when it succeeds', async () => {
  await simulator.refuse()
  const states: string[] = []
  const onBreaker = (state: string) => states.push(state)
  const client = open({ breakerFailures: 3, openMs: 300, mostOpenMs: 300 }, { onBreaker })
  for (let i = 0; i < 3; i++) await fails(client.document(stores), 'back_office_unavailable')
  await simulator.accept()
  simulator.ledger.clear()
  await fails(client.document(stores), 'back_office_unavailable')
  assert.equal(simulator.ledger.calls.length, 0)
  simulator.faults.add({ kind: 'latency', seconds: 0.3, times: 1 })
  await delay(400)
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => client.document(stores)))
  assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal(simulator.ledger.calls.length, 1)
  await client.document(stores)
  assert.deepEqual(states, ['open', 'closed'])
})

test('a breaker stays open longer with each attempt that fails', () => {
  let now = 0
  const states: string[] = []
  const breaker = makeBreaker({
    breakerFailures: 2,
    openMs: 1_000,
    mostOpenMs: 4_000,
    now: () => now,
    onChange: state => states.push(state),
  })
  const fail = () => {
    assert.equal(breaker.enter(), 0)
    breaker.failed()
  }
  fail()
  assert.equal(breaker.state, 'closed')
  fail()
  for (const ms of [1_000, 2_000, 4_000, 4_000]) {
    const left = breaker.enter()
    assert.ok(left >= ms * 0.8 && left <= ms * 1.2, `${left} of ${ms}`)
    now += left
    assert.equal(breaker.state, 'half open')
    fail()
  }
  now += 10_000
  assert.equal(breaker.enter(), 0)
  assert.ok(breaker.enter() > 0, 'a second one does not try')
  breaker.gaveUp()
  assert.equal(breaker.enter(), 0)
  breaker.passed()
  assert.deepEqual([breaker.state, breaker.enter(), states], ['closed', 0, ['open', 'closed']])
})

test('calls under way and calls that wait are bounded, and each has its turn', async () => {
  const client = open({ concurrency: 2, waiting: 3 })
  simulator.faults.add({ kind: 'latency', seconds: 0.2 })
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => client.document(stores)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [...Array(5).fill('fulfilled'), ...Array(3).fill('rejected')],
  )
  for (const answer of answers)
    if (answer.status === 'rejected') assert.equal((answer.reason as ApiError).code, 'back_office_unavailable')
})

test('who has waited too long for a place leaves, and the place goes to the next', async () => {
  const bulkhead = makeBulkhead({ concurrency: 1, waiting: 2 })
  const leave = await bulkhead.enter(new AbortController().signal)
  const impatient = new AbortController()
  const left = assert.rejects(bulkhead.enter(impatient.signal), /No place/)
  const patient = bulkhead.enter(new AbortController().signal)
  impatient.abort()
  await left
  leave()
  leave()
  const last = await patient
  assert.equal(bulkhead.busy, 1)
  last()
  assert.equal(bulkhead.busy, 0)
})

test('a list that is left half-way gives its place back', async () => {
  const client = open({ concurrency: 1, pageRows: 5 })
  for (let i = 0; i < 3; i++) {
    const { records } = await client.list({
      endpoint: 'persons',
      path: ['Persons'],
      roots: ['Persons'],
      record: 'Person',
    })
    for await (const record of records) {
      assert.equal(record.name, 'Person')
      break
    }
  }
  await client.document(stores)
})

test('of many calls in an outage at most a tenth are repeats', async () => {
  simulator.faults.add({ kind: 'html', status: 502 })
  const client = open({ breakerFailures: 1_000 })
  const calls = 200
  for (let i = 0; i < calls; i++) await fails(client.document(stores), 'back_office_unavailable')
  const asked = simulator.ledger.calls.length
  assert.ok(asked > calls && asked <= calls * 1.1 + 3, `${asked} for ${calls}`)
})

test('a retry budget is earned by calls', () => {
  const budget = makeRetryBudget()
  while (budget.spend());
  for (let i = 0; i < 9; i++) budget.earn()
  assert.equal(budget.spend(), false)
  budget.earn()
  assert.deepEqual([budget.spend(), budget.spend()], [true, false])
})

test('connections are kept, and used again by reads', async () => {
  const ports = new Set<number>()
  const server = await serve((request, response) => {
    ports.add(request.socket.remotePort ?? 0)
    response.end(oneStore)
  })
  const client = open({}, { url: server.url })
  for (let i = 0; i < 5; i++) await client.document(stores)
  assert.equal(ports.size, 1)
  await server.close()
})

test('a certificate that nobody vouches for is refused, and one of the authority that is named is not', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-ca-'))
  const { cert, key, caFile } = localCertificate(directory)
  const ca = readFileSync(caFile, 'utf8')
  const server = await serve((_, response) => response.end(oneStore), { cert, key })
  await fails(open({}, { url: server.url }).document(stores), 'back_office_unavailable')
  const error = await fails(open({}, { url: server.url }).write(lock), 'back_office_unavailable')
  assert.ok(error)
  assert.ok(await open({}, { url: server.url, ca }).document(stores))
  await server.close()
  await rm(directory, { recursive: true })
})

test('a call that its caller breaks off says nothing of the back office', async () => {
  const client = open({ breakerFailures: 1, deadlineMs: 5_000 })
  simulator.faults.add({ kind: 'hang', times: 1 })
  const leaving = new AbortController()
  const call = fails(client.document({ ...stores, signal: leaving.signal }), 'back_office_unavailable')
  while (!simulator.ledger.calls.length) await delay(5)
  leaving.abort()
  await call
  await client.document(stores)
})
