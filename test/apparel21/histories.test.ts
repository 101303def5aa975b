import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { importExport } from '../../src/backoffice/apparel21/export-files/import.ts'
import { sql } from '../../src/database/db.ts'
import { connectToBackOffice } from '../drivers/apparel21.ts'
import { getWarningCodes } from '../support/customer-bodies.ts'
import { startTestApi } from '../support/service.ts'
import { countRows, startShopFixture } from './shop.ts'

const shop = await startShopFixture()
const { api, simulator } = shop
const persons = [...simulator.state.persons.keys()]
const shops = [...simulator.state.stores.values()].filter(({ kind }) => kind === 'shop')
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-histories-'))
after(() => rmSync(directory, { recursive: true }))

/** Sells a tee to this person at a till. Returns the identifier of the sale. */
function sellAtTill(personId: number, quantity = 1) {
  const lines = [{ skuId: Number(shop.findItems().tee.sku), quantity }]
  return simulator.change({ kind: 'till-sale', storeId: shops[0]?.id ?? 0, personId, lines })
}
const getHistory = async (personId: number, caller: Pick<typeof api, 'get'> = api) => {
  const { status, json, text } = await caller.get(`/customers/${personId}/transactions`)
  assert.equal(status, 200, text)
  return { ids: json.data.map(({ id }: { id: string }) => id) as string[], meta: json.meta, data: json.data }
}
/** Imports the sales export of the back office. */
async function importOrders(name: string) {
  const path = join(directory, name)
  await writeFile(path, await (await fetch(`${simulator.controlUrl}/export/orders.csv`)).text())
  const file = { type: 'orders' as const, name, path, rejectedPath: `${path}.rejected.ndjson` }
  const { rejected } = await importExport(api.db, api.service, file, new AbortController().signal)
  assert.equal(rejected, 0)
}
const countReads = (personId: number) =>
  simulator.ledger.findCalls({ path: `/Persons/${personId}/RetailTransactions` }).length
const isSince = (at: string, ms: number) =>
  Date.parse(at) >= Math.floor(ms / 1_000) * 1_000 && Date.parse(at) <= Date.now()
let next = 0
const takeNextPerson = () => persons[next++] ?? assert.fail('no person is left')

test("a till sale is immediately in the shopper's history and stored", async () => {
  const personId = takeNextPerson()
  const sold = sellAtTill(personId, 2)
  const began = Date.now()
  const { ids, meta, data } = await getHistory(personId)
  assert.equal(ids[0], sold)
  assert.deepEqual([data[0].lines[0].quantity, data[0].storeNumber], [2, shops[0]?.number])
  assert.ok(isSince(meta.syncedAt, began), meta.syncedAt)
  assert.equal(meta.warnings, undefined)
  assert.equal(
    await api.db.run(sql`select from retail_transaction where service_id = ${api.service.id} and id = ${sold}`),
    1,
  )
})

test('a web sale has its carrier and its tracking', async () => {
  const sale = simulator.state.transactions.find(({ personId, conNote }) => personId !== null && conNote)
  assert.ok(sale?.personId)
  const { data } = await getHistory(sale.personId)
  const published = data.find(({ id }: { id: string }) => id === String(sale.id))
  const expected = { carrier: sale.carrier, trackingNumber: sale.conNote, trackingUrl: sale.carrierUrl }
  assert.partialDeepStrictEqual(published, expected)
  const changeFeed = await api.get('/changes?kinds=transaction&records=true&limit=1000')
  const changed = changeFeed.json.data.find(({ id }: { id: string }) => id === String(sale.id))
  assert.partialDeepStrictEqual(changed.record, expected)
  const till = await getHistory(takeNextPerson())
  assert.ok(till.data.every((other: { channel: string }) => other.channel === 'web' || !('carrier' in other)))
})

test('the history shows stored data with its age during an outage', async () => {
  const [existing, unknown] = [takeNextPerson(), takeNextPerson()]
  const before = await getHistory(existing)
  sellAtTill(existing)
  await api.db.run(sql`update sync_refresh set read_at = read_at - interval '1 hour' where id = ${String(existing)}`)
  await simulator.stopAccepting()
  const { ids, meta } = await getHistory(existing)
  assert.deepEqual(ids, before.ids)
  assert.deepEqual(getWarningCodes({ meta }), ['back_office_unavailable'])
  assert.match(meta.warnings[0].detail, /is 36\d\d seconds old/)
  assert.equal(Date.parse(before.meta.syncedAt) - Date.parse(meta.syncedAt), 3_600_000)
  const neverRead = await getHistory(unknown)
  assert.deepEqual(getWarningCodes(neverRead), ['back_office_unavailable'])
  assert.equal('syncedAt' in neverRead.meta, false, 'a history that was never read has no sync time')
})

test('concurrent history requests cause one call per customer', async () => {
  const [first, second] = [takeNextPerson(), takeNextPerson()]
  simulator.faults.add({ kind: 'latency', seconds: 0.5, path: '/Persons/*/RetailTransactions' })
  const responses = await Promise.all([...Array(20).fill(first), second].map(id => getHistory(id)))
  assert.ok(responses.every(({ meta }) => meta.warnings === undefined))
  assert.deepEqual([countReads(first), countReads(second)], [1, 1])
})

test('a new process makes each call once under concurrent requests', async () => {
  const newServer = await shop.startSecondServer()
  const shoppers = [takeNextPerson(), takeNextPerson(), takeNextPerson()]
  simulator.faults.add({ kind: 'latency', seconds: 0.5, path: '/Persons/*/RetailTransactions' })
  const pending = Array.from({ length: 90 }, (_, i) => getHistory(shoppers[i % 3] ?? 0, newServer))
  const responses = await Promise.all(pending)
  assert.ok(responses.every(({ meta }) => meta.warnings === undefined))
  const callsByPath = Map.groupBy(simulator.ledger.calls, ({ method, path }) => `${method} ${path}`)
  assert.ok(callsByPath.size >= 3)
  for (const [call, calls] of callsByPath) {
    const times = calls.map(({ at }) => Date.parse(at)).sort((time, other) => time - other)
    // Each call takes 500 ms, so calls that begin within 400 ms of each other overlap.
    assert.ok(
      times.every((at, i) => i === 0 || at - (times[i - 1] ?? 0) > 400),
      `${call}: ${times}`,
    )
  }
})

test('a hanging back office delays a list briefly; late responses are stored', async t => {
  const { client, backOffice } = connectToBackOffice(simulator)
  const slowServer = await startTestApi({ sharedWith: api, backOffice })
  t.after(async () => {
    await slowServer.stop()
    client.close()
  })
  const personId = takeNextPerson()
  const sold = sellAtTill(personId)
  simulator.faults.add({ kind: 'latency', seconds: 4.5, path: '/Persons/*/RetailTransactions', times: 1 })
  const began = Date.now()
  const pending = getHistory(personId, slowServer)
  await new Promise(resolve => setTimeout(resolve, 1_000))
  const locked = await api.db.row(sql`
    select count(*)::integer as n from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`)
  assert.deepEqual(locked, { n: 0 })
  const { ids, meta } = await pending
  assert.ok(Date.now() - began < 4_300, "the list doesn't wait for the call")
  assert.equal(ids.includes(sold), false)
  assert.deepEqual(getWarningCodes({ meta }), ['back_office_unavailable'])
  await new Promise(resolve => setTimeout(resolve, 2_500))
  await simulator.stopAccepting()
  const later = await getHistory(personId, slowServer)
  assert.ok(later.ids.includes(sold), 'the late response is stored')
})

test('unreadable sales cause a warning and fail neither requests nor syncs', async () => {
  const personId = takeNextPerson()
  sellAtTill(personId)
  simulator.faults.add({ kind: 'malformed', path: `/Persons/${personId}/RetailTransactions` })
  const began = Date.now()
  await shop.sync('transactions')
  const { meta } = await getHistory(personId)
  assert.deepEqual([getWarningCodes({ meta }), meta.syncedAt], [['back_office_error'], undefined])
  simulator.faults.clear()
  await shop.sync('transactions')
  await simulator.stopAccepting()
  assert.ok(isSince((await getHistory(personId)).meta.syncedAt, began), 'the sync run has read the history')
})

test("a web sale has its store's number from API or export", async () => {
  const web = simulator.state.transactions.filter(
    ({ orderNumber, personId }) => orderNumber !== '' && personId !== null,
  )
  const [live, exported] = web
  assert.ok(live?.personId && exported && live.personId !== exported.personId)
  const store = simulator.state.stores.get(live.storeId)
  assert.deepEqual([store?.kind, store?.number], ['web', '999'])
  await getHistory(live.personId)
  await importOrders('orders_2.csv')
  for (const { id, personId } of [live, exported]) {
    const { data } = await getHistory(personId ?? 0)
    assert.equal(data.find((sale: { id: string }) => sale.id === String(id))?.storeNumber, '999')
  }
})

test('a sale from both export and API is stored once', async () => {
  const [first, second] = [takeNextPerson(), takeNextPerson()]
  sellAtTill(first)
  sellAtTill(second)
  const live = await getHistory(first)
  await importOrders('orders_1.csv')
  const rows = await countRows(api, api, 'retail_transaction')
  const countLines = ({ data }: typeof live) =>
    data.map(({ id, lines }: { id: string; lines: unknown[] }) => [id, lines.length])
  const countUpstreamLines = (personId: number) =>
    new Map(
      simulator.state.transactions
        .filter(sale => sale.personId === personId)
        .map(sale => [String(sale.id), sale.lines.length]),
    )
  for (const personId of [first, second]) {
    assert.deepEqual(new Map(countLines(await getHistory(personId))), countUpstreamLines(personId))
    sellAtTill(personId)
    assert.deepEqual(new Map(countLines(await getHistory(personId))), countUpstreamLines(personId))
  }
  assert.equal(await countRows(api, api, 'retail_transaction'), rows + 2)
})
