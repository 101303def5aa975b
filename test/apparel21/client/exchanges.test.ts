import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseLocationId } from '../../../src/backoffice/apparel21/client/request.ts'
import { findRetailApiError } from '../../../src/backoffice/apparel21/client/retail-api-error.ts'
import { ensureLocalCertificate } from '../../../src/tls/tls.ts'
import { harmlessDeviations, startHttpServer } from '../servers.ts'
import { assertFails, lock, startClientFixture, stores } from './client-fixture.ts'

const { simulator, open, logged } = await startClientFixture()

const oneStore = '<Stores><Store><StoreId>1</StoreId></Store></Stores>'

test('each call contains country, payload version, client name and trace', async () => {
  const requests: { url: string | undefined; headers: Record<string, unknown> }[] = []
  const server = await startHttpServer((request, response) => {
    requests.push({ url: request.url, headers: request.headers })
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
    requests.map(({ url }) => url),
    [
      '/RetailAPI/Stores/1-2_b?countryCode=AU-GA-IO&email=a%2Bb%40example.com',
      '/RetailAPI/Stores?countryCode=AU-GA-IO',
      '/RetailAPI/Stores?countryCode=AU',
    ],
  )
  const headers = requests.map(
    ({ headers: { accept, authorization, 'content-type': type, traceparent: sentTraceparent } }) => [
      ...[accept, authorization, type, sentTraceparent],
    ],
  )
  const basic = `Basic ${Buffer.from('till:bridge').toString('base64')}`
  assert.deepEqual(headers, [
    ['version_4.0', basic, 'text/xml', traceparent],
    ['version_2.0', basic, 'text/xml', undefined],
    ['version_2.0', undefined, 'text/xml', undefined],
  ])
  await server.close()
})

test('an impossible identifier is not found without a call', async t => {
  const requests: (string | undefined)[] = []
  const server = await startHttpServer((request, response) => {
    requests.push(request.url)
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
    await assertFails(client.write({ ...lock, path: ['Voucher', 'Lock', id] }), 'validation_id_incorrect')
    await assertFails(
      client.write({ ...lock, endpoint: 'orders', method: 'POST', path: ['Persons', id, 'Orders'] }),
      'not_found',
    )
  }
  assert.deepEqual(requests, [])
})

test('an empty result is valid; an error is translated with its code', async () => {
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
  const error = await assertFails(
    client.document({ endpoint: 'voucher', path: ['Voucher', '1'], query: { pin: '4711' }, roots: ['Voucher'] }),
    'voucher_not_accepted',
  )
  assert.equal(findRetailApiError(error)?.code, 5056)
  simulator.faults.add({ kind: 'error', code: 5999, description: 'ORA-00942: table PIN 4711' })
  const surprise = await assertFails(client.document(stores), 'back_office_error')
  assert.doesNotMatch(surprise.message, /ORA|5999/)
  const log = logged.join('\n')
  assert.match(log, /5999/)
  assert.match(log, /pin=\*\*\*/)
  assert.doesNotMatch(log, /4711|nobody|ORA|till|bridge/)
})

test('a bare 404 means no data and a web page an error', async () => {
  const server = await startHttpServer((_, response) => {
    response.statusCode = 404
    response.end()
  })
  assert.equal(await open({}, { url: server.url }).document(stores), undefined)
  simulator.faults.add({ kind: 'html', status: 404 })
  await assertFails(open().document(stores), 'back_office_error')
  await server.close()
})

test('an invalid response is 502 and its content is never passed on', async () => {
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
    const error = await assertFails(open().document(stores), 'back_office_error')
    assert.doesNotMatch(error.message, /<|http|html/i, fault.kind)
  }
})

test('a redirect is not followed', async () => {
  let requestCount = 0
  const redirectTarget = await startHttpServer((_, response) => {
    requestCount++
    response.end(oneStore)
  })
  simulator.faults.add({ kind: 'redirect', location: redirectTarget.url })
  await assertFails(open().document(stores), 'back_office_error')
  assert.equal(requestCount, 0)
  await redirectTarget.close()
})

test('harmless format deviations are accepted', async () => {
  const expected = await open().document(stores)
  for (const kind of harmlessDeviations) {
    simulator.faults.clear()
    simulator.faults.add({ kind })
    const document = await open().document(stores)
    assert.equal(document?.children.filter(({ name }) => name === 'Store').length, expected?.children.length, kind)
  }
})

test('a write returns the identifier of the created record', async () => {
  const server = await startHttpServer((request, response) => {
    assert.equal(request.headers.connection, 'close')
    response.writeHead(201, { location: 'http://retail.example/RetailAPI/Persons/3001?countryCode=AU' }).end()
  })
  const client = open({}, { url: server.url })
  const created = await client.write({ endpoint: 'persons', method: 'POST', path: ['Persons'], body: '<Person />' })
  assert.deepEqual(created, { status: 201, id: '3001' })
  assert.deepEqual(['/a/b/7/?x=/9', '/a/7', 'http://x/a/../', undefined, ''].map(parseLocationId), [
    '7',
    '7',
    undefined,
    undefined,
    undefined,
  ])
  await server.close()
})

test('an oversized or endless body is cut off', async () => {
  simulator.faults.add({ kind: 'endless', path: '/Freestock/AllStyles' })
  const client = open({ maxBulkBytes: 3 * 1024 ** 2, maxResponseBytes: 1024 ** 2 })
  const query = { endpoint: 'stock', path: ['Freestock', 'AllStyles'], roots: ['FreeStock'] } as const
  await assertFails(client.document(query), 'back_office_error')
  await assertFails(
    client
      .list({ ...query, record: 'Style', size: 'bulk' })
      .then(({ records }) => Array.fromAsync(records, record => record.name)),
    'back_office_error',
  )
})

test('connections are kept alive and reused by reads', async () => {
  const ports = new Set<number>()
  const server = await startHttpServer((request, response) => {
    ports.add(request.socket.remotePort ?? 0)
    response.end(oneStore)
  })
  const client = open({}, { url: server.url })
  for (let i = 0; i < 5; i++) await client.document(stores)
  assert.equal(ports.size, 1)
  await server.close()
})

test('an untrusted certificate is rejected and a configured authority is accepted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-ca-'))
  const { cert, key, caFile } = ensureLocalCertificate(directory)
  const ca = readFileSync(caFile, 'utf8')
  const server = await startHttpServer((_, response) => response.end(oneStore), { cert, key })
  await assertFails(open({}, { url: server.url }).document(stores), 'back_office_unavailable')
  await assertFails(open({}, { url: server.url }).write(lock), 'back_office_unavailable')
  assert.ok(await open({}, { url: server.url, ca }).document(stores))
  await server.close()
  await rm(directory, { recursive: true })
})
