import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { removeRole } from '../../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { createReturn, getCreatedRecord, placeOrder, startOrderShop } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { buildCredentialLines, captureLog, parseStatuses, sendBytes, startSecondServer } from '../../support/servers.ts'
import type { Caller } from '../../support/service.ts'
import { type BulkExportStream, ndjson, startBulkExport } from './export-stream.ts'

const { api } = await startOrderShop()
const captured = captureLog('error')
const other = await startSecondServer(api, { environment: { HTTP2: 'true' }, log: captured.log })
after(async () => {
  await other.stop()
  await api.stop()
})
const { db } = api
const path = '/customers/search'

/** More records than connections buffer, so Tillbridge must wait for clients that don't read. */
const count = 3_000
const ids = Array.from({ length: count }, (_, i) => String(i).padStart(5, '0'))
const large = await api.createService({ readsPerMinute: 'off' })
await upsertCustomers(
  db,
  large.service,
  // Random text can't be compressed.
  ids.map(id => ({ id, firstname: randomBytes(7_500).toString('base64') })),
)

const startExport = (caller: Caller = large, more: { headers?: Record<string, string>; http2?: boolean } = {}) =>
  startBulkExport({ at: more.http2 ? other : api, caller, path, ...more })

/** Runs `work` while customers can't be read. */
async function withoutRecords(work: () => Promise<unknown>) {
  await db.run(sql`alter table customer rename column record to elsewhere`)
  try {
    await work()
  } finally {
    await db.run(sql`alter table customer rename column elsewhere to record`)
  }
}

/** Starts an export and stops reading it after its beginning. */
async function startStalledExport(more?: Parameters<typeof startExport>[1]) {
  const bulkExport = await startExport(large, more)
  await once(bulkExport.body, 'readable')
  await delay(500)
  return bulkExport
}

test('a bulk export lists orders oldest first and returns in creation order', async () => {
  const orders = []
  for (let i = 0; i < 3; i++) orders.push(await placeOrder(api, [{ sku: 'HOOD-S', quantity: 2 }]))
  for (let i = 0; i < 2; i++) getCreatedRecord(await createReturn(api, orders[0].id, { 'HOOD-S': 1 }))
  for (const [list, reversed] of [
    ['/customers/65432/orders', true],
    [`/orders/${orders[0].id}/returns`, false],
    [`/orders?order_number=${orders[1].orderNumber}`, false],
  ] as const) {
    const { data } = (await api.get(list)).json
    assert.ok(data.length > 0)
    const bulkExport = await startBulkExport({ at: api, caller: api, path: list })
    assert.deepEqual(await bulkExport.readRecords(), reversed ? data.reverse() : data)
  }
})

test('a stalled export client holds no transaction, connection or lock', async () => {
  const bulkExport = await startStalledExport()
  const busy = sql`
    select query from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and query like '%from customer%' and (state <> 'idle' or backend_xmin is not null)`
  // Read-ahead may still be in flight.
  let idlePolls = 0
  const isIdle = async () => {
    idlePolls = (await db.rows(busy)).length ? 0 : idlePolls + 1
    return idlePolls === 25
  }
  await waitUntil(isIdle, 'no statement is running', 20_000)
  await db.transaction(tx => tx.run(sql`lock table customer in access exclusive mode nowait`))
  await upsertCustomers(db, large.service, [{ id: ids.at(-1), firstname: 'Changed' }, { id: 'new' }])
  const records = await bulkExport.readRecords()
  assert.deepEqual(
    records.map(record => record.id),
    ids.slice(0, -1),
    'later changes must be left to the next poll',
  )
  const next = await large.get(`${path}?updated_after=${bulkExport.headers['x-as-of']}`)
  assert.deepEqual(
    next.json.data.map(({ id }: { id: string }) => id),
    [ids.at(-1), 'new'],
  )
})

for (const http2 of [false, true])
  test(`a disconnect ${http2 ? 'over HTTP/2 ' : ''}is no error; an unreadable list is`, async () => {
    const findErrors = ({ headers }: BulkExportStream) =>
      captured.text.split('\n').filter(line => line.includes(headers['x-request-id']) && JSON.parse(line).level === 50)
    const startUnreadExport = async () => {
      const bulkExport = await startBulkExport({ at: other, caller: large, path, http2 })
      await once(bulkExport.body, 'readable')
      return bulkExport
    }
    const disconnected = await startUnreadExport()
    disconnected.close()
    const cut = await startUnreadExport()
    await withoutRecords(() => assert.rejects(text(cut.body)))
    await waitUntil(() => findErrors(cut).length, 'the error is logged')
    assert.deepEqual(findErrors(disconnected), [])
  })

for (const [label, more] of [
  ['over HTTP/1.1', {}],
  ['over HTTP/2', { http2: true }],
  ['compressed with gzip', { headers: { 'accept-encoding': 'gzip' } }],
  ['compressed with zstd', { headers: { 'accept-encoding': 'zstd' }, http2: true }],
] as const)
  test(`${label} a failed bulk export is cut, never ended normally`, async () => {
    const bulkExport = await startExport(large, more)
    assert.equal(bulkExport.status, 200)
    await withoutRecords(async () => {
      const outcome = await text(bulkExport.body).then(
        () => 'complete',
        () => 'cut',
      )
      assert.equal(outcome, 'cut')
    })
  })

test('a bulk export ends if its account loses access', async () => {
  const removed = await api.createAccount('visitor', large.service)
  const bulkExport = await startExport(removed)
  await db.transaction(tx => removeRole(tx, removed.username, large.service))
  // The export sends no statement in this time, because the client doesn't read the buffered lines.
  await delay(3_000)
  await assert.rejects(text(bulkExport.body))
})

test('an account can run four bulk exports and also read pages', async () => {
  const bulkExports = await Promise.all([1, 2, 3, 4].map(() => startStalledExport()))
  after(() => {
    for (const bulkExport of bulkExports) bulkExport.close()
  })
  const rejected = await large.get(path, { accept: ndjson })
  assertProblem(rejected, 'too_many_exports', api.baseUrl, path)
  assert.match(String(rejected.headers['retry-after']), /^\d+$/)
  assert.equal((await large.get(path)).status, 200)
  const another = await api.createAccount('visitor', large.service)
  assert.equal((await (await startExport(another)).readRecords()).length, count + 1)
  bulkExports[0]?.close()
  let fifth = await startExport()
  const isFifthServed = async () => {
    if (fifth.status === 200) return true
    fifth.close()
    fifth = await startExport()
    return false
  }
  await waitUntil(isFifthServed, 'the export of the disconnected client has ended', 20_000)
  assert.equal((await fifth.readRecords()).length, count + 1)
})

test('an HTTP/1.0 client cannot use bulk exports and is referred to pages', async () => {
  for (const [accept, status] of [
    ['application/x-ndjson', 406],
    ['application/json', 200],
  ] as const)
    for (const listPath of ['/stores', '/changes?records=true']) {
      const head = `${buildCredentialLines(api)}Accept: ${accept}`
      const response = await sendBytes(api, `GET ${listPath} HTTP/1.0\r\n${head}\r\n\r\n`)
      assert.deepEqual(parseStatuses(response), [status], listPath)
      assert.equal(/"code":"not_acceptable".*proxy_http_version 1\.1/.test(response), status === 406)
    }
})
