import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { paginate } from '../../support/paginate.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ settings: { timeZone: 'Australia/Melbourne', readsPerMinute: 'off' } })
  // The sales of a year, whose change order differs from their sale order. Those of the second service must never be listed.
  for (const { id } of [api.service, (await api.createService()).service])
    await api.db.run(sql`
      insert into retail_transaction (service_id, id, customer_id, sale_date, changed_at, record)
      select ${id}, n::text, case when n % 500 = 0 then '1' end, sale_date, changed_at, json_build_object('id', n::text)
        from generate_series(1, 14000) n,
             lateral (select timestamp '2025-01-01' + n * 7919 % 14000 * interval '37 min' as sale_date,
                             timestamptz '2026-01-01' + n * 104729 % 14000 * interval '1 min' as changed_at) at`)
  await api.db.run(sql`insert into customer (service_id, id, firstname, surname, privacy, email_subscription, sms_subscription, reference_values, changed_at, record, ecommerce_ids)
    values (${api.service.id}, '1', 'Ann', 'Lee', true, false, false, '{}', now(), '{}', '{}')`)
})
after(() => api.stop())

const queryIds = async (where: string, order: string) => {
  const { rows } = await api.db.pool.query<{ id: string }>(
    `select id from retail_transaction where service_id = $1 and ${where} order by ${order}`,
    [api.service.id],
  )
  assert.ok(rows.length)
  return rows.map(({ id }) => id)
}

const search = '/orders/transactions/search?'
const changed = {
  few: ['2026-01-05T00:00:00Z', '2026-01-05T12:00:00Z'],
  many: ['2026-01-02T00:00:00Z', '2026-01-06T00:00:00Z'],
} as const
const sold = ['2025-03-01T00:00:00+11:00', '2025-11-01T00:00:00+11:00'] as const
const isChanged = ([from, to]: readonly [string, string]) => `changed_at > '${from}' and changed_at < '${to}'`
const isSold = `sale_date > '2025-03-01' and sale_date < '2025-11-01'`

for (const [amount, range] of Object.entries(changed)) {
  const [from, to] = range
  const updated = `updated_after=${from}&updated_before=${to}`
  const label = `${amount} changes`
  test(`${label} come in sale order in the direction of \`asc\``, async () => {
    assert.deepEqual(
      (await paginate(api, `${search}${updated}&asc=true`)).ids,
      await queryIds(isChanged(range), 'sale_date, id'),
    )
    const down = await paginate(api, `${search}${updated}&asc=false`)
    assert.deepEqual(down.ids, await queryIds(isChanged(range), 'sale_date desc, id desc'))
    assert.ok(down.cursors.length <= down.ids.length / 100 + 3, `${down.cursors.length} pages`)
  })

  test(`${label} come in change order by default`, async () => {
    assert.deepEqual(
      (await paginate(api, `${search}${updated}`)).ids,
      await queryIds(isChanged(range), 'changed_at, id'),
    )
  })

  test(`${label} sold within a range come in either order`, async () => {
    const ranges = `${updated}&sold_after=${encodeURIComponent(sold[0])}&sold_before=${encodeURIComponent(sold[1])}`
    const condition = `${isChanged(range)} and ${isSold}`
    assert.deepEqual((await paginate(api, `${search}${ranges}`)).ids, await queryIds(condition, 'changed_at, id'))
    assert.deepEqual(
      (await paginate(api, `${search}${ranges}&asc=true`)).ids,
      await queryIds(condition, 'sale_date, id'),
    )
  })
}

test('the first page is never empty while there are records', async () => {
  const caller = await api.createService({ readsPerMinute: 'off' })
  // The 3,000 newest sales changed last, so 57,000 records in sale order come before the first match.
  await api.db.run(sql`
    insert into retail_transaction (service_id, id, sale_date, changed_at, record)
    select ${caller.service.id}, n::text, timestamp '2025-01-01' + n * interval '1 min',
           timestamptz '2026-01-01' + (case when n > 57000 then interval '1 day' else interval '0' end) + n * interval '1 s',
           json_build_object('id', n::text)
      from generate_series(1, 60000) n`)
  const late = Array.from({ length: 3_000 }, (_, i) => String(57_001 + i))
  for (const [query, ids] of [
    ['updated_after=2026-01-02T15:00:00Z&asc=true', late],
    ['updated_before=2026-01-01T00:50:01Z&asc=false', late.map((_, i) => String(3_000 - i))],
    ['updated_after=2025-12-31&sold_after=2025-02-09T14:00:00', late],
  ] as const) {
    const first = (await caller.get(`${search}${query}`)).json
    assert.equal(first.data[0]?.id, ids[0], query)
    assert.ok(first.meta.hasNextPage)
    assert.deepEqual((await paginate(caller, `${search}${query}`)).ids, ids, query)
  }
  const none = (await caller.get(`${search}updated_after=2027-01-01&asc=true`)).json
  assert.deepEqual([none.data, none.meta.hasNextPage], [[], false])
})

test("a sales range uses the service's time zone and excludes its ends", async () => {
  const may = 'sold_after=2025-05-01&sold_before=2025-06-01'
  const inMay = `sale_date > '2025-05-01' and sale_date < '2025-06-01'`
  assert.deepEqual((await paginate(api, `${search}${may}`)).ids, await queryIds(inMay, 'sale_date desc, id desc'))
  assert.deepEqual((await paginate(api, `${search}${may}&asc=true`)).ids, await queryIds(inMay, 'sale_date, id'))
  const own = await paginate(api, `/customers/1/transactions?${may}&limit=2`)
  assert.deepEqual(own.ids, await queryIds(`customer_id = '1' and ${inMay}`, 'sale_date desc, id desc'))
})

test('an inverted sales range is 422', async () => {
  for (const path of [search, '/customers/1/transactions?']) {
    const { status, json } = await api.get(`${path}sold_after=2025-06-01&sold_before=2025-05-01`)
    assert.deepEqual([status, json.code, json.errors[0].parameter], [422, 'date_range_inverted', 'sold_before'])
  }
})

test('a poll after a range of changes returns all later changes once', async () => {
  const [to] = changed.many
  const range = await paginate(api, `${search}updated_after=2026-01-01&updated_before=${to}`)
  const headers = { accept: 'application/x-ndjson' }
  const bulkExport = await api.get(`${search}updated_after=2026-01-01&updated_before=${to}`, headers)
  assert.deepEqual([range.asOf, bulkExport.headers['x-as-of']], ['2026-01-01T23:59:59.999999Z', range.asOf])
  const next = await paginate(api, `${search}updated_after=${range.asOf}`)
  const all = await queryIds(`changed_at > '2026-01-01T00:00:00+11:00'`, 'changed_at, id')
  assert.deepEqual([...range.ids, ...next.ids], all)
})
