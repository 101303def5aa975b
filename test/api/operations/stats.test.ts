import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startSimulator } from '../../../simulator/simulator.ts'
import { sql } from '../../../src/database/db.ts'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { fillShop, placeOrder } from '../../support/order-shop.ts'
import { waitUntil } from '../../support/processes.ts'
import { type Caller, startTestApi } from '../../support/service.ts'
import { addVouchers } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

// A time zone in which it is about noon, so that the day doesn't change during the test.
const west = new Date().getUTCHours() - 12
const timeZone = west > 0 ? `Etc/GMT+${west}` : `Etc/GMT-${-west}`
const settings = { currency: 'AUD', timeZone, readsPerMinute: 'off', writesPerMinute: 'off' } as const
const api = await startTestApi({ settings })
after(() => api.stop())
const { db } = api

const getStats = async (caller: Caller) => {
  const { status, json, text } = await caller.get('/stats')
  assert.equal(status, 200, text)
  return json.data
}
const sum = (minutes: number[]) => minutes.reduce((total, count) => total + count, 0)

test('requests and errors of 24 hours are counted per minute and service', async () => {
  const [caller, other] = [await api.createService(settings), await api.createService(settings)]
  for (let i = 0; i < 3; i++) await caller.get('/stores')
  await caller.get('/customers/9')
  await db.run(sql`alter table store rename to elsewhere`)
  try {
    assert.equal((await caller.get('/stores')).status, 500)
  } finally {
    await db.run(sql`alter table elsewhere rename to store`)
  }
  // One minute too old, one within the day, and one of another service.
  for (const [owner, minutes] of [
    [caller, 1_440],
    [caller, 60],
    [other, 60],
  ] as const)
    await db.run(sql`
      insert into request_minute values (${owner.service.id}, date_trunc('minute', now()) - ${minutes} * interval '1 minute', 1000, 100, 10)`)
  await waitUntil(async () => sum((await getStats(caller)).requests.failed) === 11, 'all requests are counted', 20_000)
  const { since, answered, rejected, failed } = (await getStats(caller)).requests
  assert.deepEqual([answered.length, rejected.length, failed.length], [1_440, 1_440, 1_440])
  assert.equal(sum(rejected), 101)
  assert.ok(sum(answered) >= 1_005 && sum(answered) < 1_500, `${sum(answered)}`)
  const startMs = Date.parse(since)
  assert.equal(startMs % 60_000, 0)
  assert.ok(Math.abs(startMs + 1_439 * 60_000 - Date.now()) < 120_000, since)
  const hourAgo = answered.findIndex((count: number) => count >= 1_000)
  assert.ok(Math.abs(hourAgo - 1_379) <= 2, `${hourAgo}`)
})

test('minutes count each logged request once, even if several processes write', async () => {
  const second = await startTestApi({ sharedWith: api })
  try {
    for (let round = 0; round < 3; round++) {
      await Promise.all([api, second].flatMap(server => Array.from({ length: 10 }, () => server.get('/stores'))))
      await new Promise(resolve => setTimeout(resolve, 700))
    }
  } finally {
    await second.stop()
  }
  const readCounts = () =>
    db.row<{ lines: number; counted: number }>(sql`
      select (select count(*)::integer from request_log where service_id = ${api.service.id}) as lines,
             (select coalesce(sum(answered), 0)::integer from request_minute where service_id = ${api.service.id}) as counted`)
  await waitUntil(async () => ((await readCounts())?.lines ?? 0) >= 60, 'all log entries are written', 20_000)
  const counts = await readCounts()
  assert.equal(counts?.counted, counts?.lines)
})

test('orders and sales of today are summed by currency', async () => {
  const [caller, other] = [await api.createService(settings), await api.createService(settings)]
  for (const shop of [caller, other]) await fillShop(db, shop.service)
  await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 2 }])
  const earlier = await placeOrder(caller, [{ sku: 'HOOD-M', quantity: 1 }])
  await placeOrder(other, [{ sku: 'HOOD-M', quantity: 1 }])
  await db.run(sql`
    update sales_order set placed_at = placed_at - interval '1 day' where service_id = ${caller.service.id} and id = ${earlier.id}`)
  await db.run(sql`delete from retail_transaction where service_id = ${caller.service.id}`)
  for (const [id, days, currency, total] of [
    ['1', 0, 'AUD', '25.99'],
    ['2', 0, 'AUD', '-5.49'],
    ['3', 0, 'JPY', '1200'],
    ['4', -1, 'AUD', '100.00'],
    ['5', 1, 'AUD', '100.00'],
    ['6', -7, 'AUD', '80.00'],
  ] as const)
    await db.run(sql`
      insert into retail_transaction (service_id, id, sale_date, changed_at, record)
      values (${caller.service.id}, ${id}, (now() at time zone ${timeZone})::date + ${days}::integer, now(), ${JSON.stringify({ currency, total })})`)
  const { day, orders, sales } = await getStats(caller)
  assert.equal(day, Temporal.Now.plainDateISO(timeZone).toString())
  assert.deepEqual(orders, [{ currency: 'AUD', count: 1, total: '59.98' }])
  assert.deepEqual(sales, [
    { currency: 'AUD', count: 2, total: '20.50' },
    { currency: 'JPY', count: 1, total: '1200' },
  ])
})

test('sales and orders of a range are compared with the range before', async () => {
  const [caller, other] = [await api.createService(settings), await api.createService(settings)]
  for (const shop of [caller, other]) {
    await fillShop(db, shop.service)
    await placeOrder(shop, [{ sku: 'HOOD-S', quantity: 2 }])
  }
  // Delete the sale that the order created.
  await db.run(sql`delete from retail_transaction where service_id = ${caller.service.id}`)
  const hour = 60
  const day = 24 * hour
  for (const [id, minutes, currency, total] of [
    ['now', 0, 'AUD', '10.50'],
    ['refund', 0, 'AUD', '-0.50'],
    ['yen', 0, 'JPY', '1200'],
    ['hours', 5 * hour, 'AUD', '20.00'],
    ['days', 3 * day, 'AUD', '40.00'],
    ['week', 7 * day, 'AUD', '5.00'],
    ['later', 7 * day - 3 * hour, 'AUD', '7.00'],
    ['month', 31 * day, 'AUD', '80.00'],
  ] as const)
    await db.run(sql`
      insert into retail_transaction (service_id, id, sale_date, changed_at, record)
      values (${caller.service.id}, ${id}, now() at time zone ${timeZone} - ${minutes}::integer * interval '1 minute', now(), ${JSON.stringify({ currency, total })})`)
  const read = async (range: string) => (await caller.get(`/console/sales/intervals?range=${range}`)).json.data
  const summarize = ({ intervals, count, total, previous }: Record<string, unknown> & { intervals: unknown[] }) => [
    intervals.length,
    count,
    total,
    previous,
  ]
  assert.deepEqual(summarize((await read('1h')).sales), [12, 2, '10.00', '5.00'])
  // A sale three hours later on that day isn't compared yet.
  assert.deepEqual(summarize((await read('24h')).sales), [24, 3, '30.00', '5.00'])
  assert.deepEqual(summarize((await read('7d')).sales), [28, 4, '70.00', '5.00'])
  assert.deepEqual(summarize((await read('30d')).sales), [30, 6, '82.00', '80.00'])
  const { currency, sales, orders } = await read('7d')
  assert.deepEqual(summarize(orders), [28, 1, '59.98', '0.00'])
  assert.equal(currency, 'AUD')
  for (const [i, { from, until }] of sales.intervals.entries()) {
    assert.equal(Date.parse(until) - Date.parse(from), 6 * hour * 60_000)
    if (i > 0) assert.equal(from, sales.intervals[i - 1].until)
  }
  const { from, until } = sales.intervals.at(-1)
  const listed = await caller.get(`/browse?table=sales&from=${from}&until=${until}`)
  assert.ok(listed.json.data.rows.some((row: { id: string }) => row.id === 'now'))
  assert.ok(!listed.json.data.rows.some((row: { id: string }) => row.id === 'days'))
})

test('the voucher balance includes active, locked and suspended vouchers', async () => {
  const caller = await api.createService(settings)
  assert.deepEqual((await getStats(caller)).vouchers, [])
  await addVouchers(api, caller, {
    whole: {},
    'partly-used': { usedAmount: '100.50' },
    'last-week': { expiryDate: Temporal.Now.plainDateISO(timeZone).subtract({ days: 7 }).toString() },
    'until-today': { expiryDate: Temporal.Now.plainDateISO(timeZone).toString() },
    'on-hold': {},
    pending: { state: 'pending' },
  })
  await db.run(
    sql`update voucher set state = 'suspended' where service_id = ${caller.service.id} and number = 'on-hold'`,
  )
  assert.deepEqual((await getStats(caller)).vouchers, [{ currency: 'AUD', count: 4, total: '499.50' }])
})

test('Apparel21 keeps the vouchers, and syncs show their lag', async () => {
  const caller = await api.createService(settings)
  assert.deepEqual((await getStats(caller)).syncs, [])
  await setBackOffice(db, api.keys, caller.service, {
    driver: 'apparel21',
    url: 'https://127.0.0.1:9',
    country: 'AU',
  })
  await waitUntil(async () => (await getStats(caller)).vouchers === null, 'the back office setting applies', 20_000)
  await db.run(sql`
    insert into sync_state (service_id, sync, finished_at) values (${caller.service.id}, 'stock', now() - interval '1 hour')
    on conflict (service_id, sync) do update set finished_at = excluded.finished_at`)
  const { syncs } = await getStats(caller)
  const stock = syncs.find(({ sync }: { sync: string }) => sync === 'stock')
  assert.ok(stock.lagSeconds >= 3_600 && stock.lagSeconds < 3_700, stock.lagSeconds)
  assert.equal(stock.isOverdue, true)
  assert.ok(syncs.length > 5)
})

test('back-office calls are counted per minute with duration and failures', async t => {
  const simulator = await startSimulator({ sizes: { persons: 5 } })
  t.after(() => simulator.close())
  const [caller, unreachable] = [await api.createService(settings), await api.createService(settings)]
  for (const [owner, url] of [
    [caller, simulator.url],
    [unreachable, 'https://127.0.0.1:9'],
  ] as const)
    await setBackOffice(db, api.keys, owner.service, { driver: 'apparel21', url, country: 'AU' })
  const getCallStats = async (reader: Caller) => (await reader.get('/stats/back-office-calls')).json.data
  for (const shop of [caller, unreachable]) {
    await waitUntil(
      async () => (await getCallStats(shop)).breaker === 'closed',
      'the back office setting applies',
      20_000,
    )
    const customer = { firstname: 'Jo', surname: 'Sample', contact: { email: 'jo@example.test' } }
    assert.equal((await post(shop, '/customers', customer)).status, shop === caller ? 201 : 503)
    await waitUntil(async () => sum((await getCallStats(shop)).calls) > 0, 'its calls are counted', 20_000)
  }
  const { calls, failed, average, slowest } = await getCallStats(caller)
  assert.deepEqual([calls.length, sum(failed)], [1_440, 0])
  assert.ok(sum(average) > 0 && sum(slowest) >= sum(average), `${sum(average)} ${sum(slowest)}`)
  const unreachableStats = await getCallStats(unreachable)
  assert.equal(sum(unreachableStats.failed), sum(unreachableStats.calls))
  assert.equal((await getCallStats(await api.createService(settings))).breaker, null)
})
