import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { buildCustomers } from '../../support/paginate.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: { readsPerMinute: 'off' } })
  await addRecords(api)
})
after(() => api.stop())

/** Adds three customers, the first two with three transactions each. */
async function addRecords({ service }: Caller) {
  await upsertCustomers(api.db, service, buildCustomers(1, 3))
  await api.db.run(sql`
    insert into retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)
    select ${service.id}, n::text, lpad((1 + n % 2)::text, 6, '0'), '2024-05-26', now(), json_build_object('id', n::text)::text
      from generate_series(1, 6) n`)
}

async function getCursor(caller: Pick<Caller, 'get'>, path: string): Promise<string> {
  const { json } = await caller.get(`${path}${path.includes('?') ? '&' : '?'}limit=1`)
  assert.equal(typeof json.meta.endCursor, 'string', path)
  return json.meta.endCursor
}

const withCursor = (path: string, cursor: string) =>
  `${path}${path.includes('?') ? '&' : '?'}after_cursor=${encodeURIComponent(cursor)}`

async function assertRejected(path: string, cursor: string, caller: Pick<Caller, 'get'> = api) {
  const { status, json } = await caller.get(withCursor(path, cursor))
  const label = `${path} ${JSON.stringify(cursor.slice(0, 60))}`
  assert.equal(status, 400, label)
  assert.equal(json.code, 'invalid_cursor', label)
  assert.deepEqual(
    json.errors.map(({ parameter, code }: { parameter: string; code: string }) => [parameter, code]),
    [['after_cursor', 'invalid_cursor']],
  )
}

test('a cursor continues after the page that returned it', async () => {
  const cursor = await getCursor(api, '/customers/search')
  const { json } = await api.get(withCursor('/customers/search', cursor))
  assert.deepEqual(
    json.data.map(({ id }: { id: string }) => id),
    ['000002', '000003'],
  )
})

test('a cursor with any changed byte or character is rejected', async () => {
  const cursor = await getCursor(api, '/customers/search')
  const bytes = Buffer.from(cursor, 'base64url')
  for (let i = 0; i < bytes.length; i++) {
    const flipped = Buffer.from(bytes)
    flipped.writeUInt8(bytes.readUInt8(i) ^ (1 << (i % 8)), i)
    await assertRejected('/customers/search', flipped.toString('base64url'))
  }
  for (let i = 0; i < cursor.length; i++)
    await assertRejected(
      '/customers/search',
      cursor.slice(0, i) + (cursor[i] === 'A' ? 'B' : 'A') + cursor.slice(i + 1),
    )
})

test('a truncated, extended or reassembled cursor is rejected', async () => {
  const cursor = await getCursor(api, '/customers/search')
  const other = await getCursor(api, '/customers/search?updated_after=2020-01-01')
  for (let length = 0; length < cursor.length; length++)
    await assertRejected('/customers/search', cursor.slice(0, length))
  const [bytes, otherBytes] = [Buffer.from(cursor, 'base64url'), Buffer.from(other, 'base64url')]
  for (const text of [
    `${cursor}A`,
    `${cursor}AAAA`,
    cursor + cursor,
    Buffer.concat([otherBytes.subarray(0, 16), bytes.subarray(16)]).toString('base64url'),
    Buffer.concat([Buffer.alloc(16), bytes.subarray(16)]).toString('base64url'),
    bytes.subarray(16).toString('base64url'),
  ])
    await assertRejected('/customers/search', text)
})

test('only the canonical spelling of a cursor is accepted', async () => {
  const cursor = await getCursor(api, '/customers/search')
  const standard = cursor.replaceAll('-', '+').replaceAll('_', '/')
  for (const text of [
    `${cursor}=`,
    `${cursor}==`,
    ` ${cursor}`,
    `${cursor} `,
    `${cursor}\n`,
    `"${cursor}"`,
    `${cursor}.`,
  ])
    await assertRejected('/customers/search', text)
  if (standard !== cursor) await assertRejected('/customers/search', standard)
  // If the last character has unused bits, they must be zero.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = cursor.at(-1) ?? ''
  for (const character of alphabet)
    if (character !== last) await assertRejected('/customers/search', cursor.slice(0, -1) + character)
})

test('a cursor belongs to its service', async () => {
  const other = await api.createService({ readsPerMinute: 'off' })
  await addRecords(other)
  for (const path of ['/customers/search', '/orders/transactions/search', '/customers/000001/transactions']) {
    await assertRejected(path, await getCursor(api, path), other)
    await assertRejected(path, await getCursor(other, path))
  }
})

test("a cursor of one account is valid for the service's other accounts", async () => {
  const colleague = await api.createAccount('visitor')
  const { status } = await colleague.get(withCursor('/customers/search', await getCursor(api, '/customers/search')))
  assert.equal(status, 200)
})

test('a cursor belongs to its list', async () => {
  const lists = [
    '/customers/search',
    '/orders/transactions/search',
    '/customers/000001/transactions',
    '/customers/000002/transactions',
  ]
  for (const from of lists) {
    const cursor = await getCursor(api, from)
    for (const to of [...lists, '/stores', '/staff', '/inventory', '/products'])
      if (to !== from) await assertRejected(to, cursor)
  }
  const byChange = '/customers?updated_after=2020-01-01'
  await assertRejected(byChange, await getCursor(api, '/customers/search?updated_after=2020-01-01'))
})

test('a cursor belongs to its filters', async () => {
  const search = '/orders/transactions/search'
  const paginations = [
    search,
    `${search}?asc=true`,
    `${search}?updated_after=2020-01-01`,
    `${search}?updated_after=2020-01-02`,
    `${search}?updated_before=2999-01-01`,
    `${search}?updated_after=2020-01-01&updated_before=2999-01-01`,
    `${search}?updated_after=2020-01-01&asc=true`,
  ]
  for (const from of paginations) {
    const cursor = await getCursor(api, from)
    for (const to of paginations)
      if (to === from) assert.equal((await api.get(withCursor(to, cursor))).status, 200)
      else await assertRejected(to, cursor)
  }
})

test('a cursor does not depend on filter order, spelling or limit', async () => {
  const cursor = await getCursor(api, '/orders/transactions/search?updated_after=2020-01-01&asc=true')
  for (const query of [
    'asc=true&updated_after=2020-01-01',
    'asc=true&updated_after=2020-01-01T00:00:00Z',
    'limit=2&updated_after=2020-01-01T01:00:00%2B01:00&asc=true',
  ]) {
    const { status, text } = await api.get(withCursor(`/orders/transactions/search?${query}`, cursor))
    assert.equal(status, 200, text)
  }
})

test('any string that was never a cursor is rejected', async () => {
  for (const text of [
    '',
    ' ',
    'null',
    '0',
    '[]',
    '{}',
    '__proto__',
    'constructor',
    "' or 1=1 --",
    "'; drop table customer; --",
    '../../etc/passwd',
    '\0',
    'a\0b',
    '\r\nX-Injected: 1',
    '\u{1F600}',
    'é',
    '\u202e',
    'A'.repeat(2_000),
    'A'.repeat(2_001),
    Buffer.from(JSON.stringify(['2024-01-01T00:00:00Z', '2024-01-01', '1'])).toString('base64url'),
    Buffer.alloc(16).toString('base64url'),
    Buffer.alloc(17).toString('base64url'),
  ])
    await assertRejected('/customers/search', text)
})

test('a cursor of 64 KB is rejected before it is decoded', async () => {
  const { status, json } = await api.get(withCursor('/customers/search', 'A'.repeat(65_536)))
  assert.equal(status, 431)
  assert.equal(json.code, 'headers_too_large')
  const nearly = await api.get(withCursor('/customers/search', 'A'.repeat(9_000)))
  assert.equal(nearly.status, 414)
})

test('a repeated cursor parameter is rejected', async () => {
  const cursor = await getCursor(api, '/customers/search')
  const { status, json } = await api.get(`/customers/search?after_cursor=${cursor}&after_cursor=${cursor}`)
  assert.equal(status, 400)
  assert.equal(json.errors[0].parameter, 'after_cursor')
})
