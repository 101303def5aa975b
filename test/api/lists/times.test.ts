import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.stop())

/** Creates a service with three transactions, which changed a microsecond before an instant, at it, and a microsecond after. */
async function createServiceAround(instant: string, timeZone: string) {
  const caller = await api.createService({ timeZone, readsPerMinute: 'off' })
  await api.db.run(sql`
    insert into retail_transaction (service_id, id, sale_date, changed_at, record)
    select ${caller.service.id}, id, '2024-05-26', ${instant}::timestamptz + distance * interval '1 microsecond', json_build_object('id', id)::text
      from (values ('before', -1), ('at', 0), ('after', 1)) as v (id, distance)`)
  return caller
}

const listSelected = async (caller: Caller, query: Record<string, string>) => {
  const { status, json } = await caller.get(`/orders/transactions/search?${new URLSearchParams(query)}`)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data.map(({ id }: { id: string }) => id).sort()
}

/** Instants with their spellings in a time zone: ahead of UTC, at UTC and in summer time. */
const forms = [
  {
    timeZone: 'UTC',
    instant: '2024-05-10T09:30:00Z',
    texts: ['2024-05-10T09:30:00', '2024-05-10 09:30:00', '2024-05-10T09:30'],
  },
  {
    timeZone: 'Australia/Melbourne',
    instant: '2024-05-10T09:30:00Z',
    texts: ['2024-05-10T19:30:00', '2024-05-10 19:30:00', '2024-05-10T19:30', '2024-05-10 19:30'],
  },
  {
    timeZone: 'Europe/London',
    instant: '2024-05-10T09:30:00Z',
    texts: ['2024-05-10T10:30:00', '2024-05-10 10:30:00', '2024-05-10T10:30'],
  },
  { timeZone: 'Australia/Melbourne', instant: '2024-01-14T13:00:00Z', texts: ['2024-01-15', '2024-01-15T00:00:00'] },
  { timeZone: 'Europe/London', instant: '2024-01-15T00:00:00Z', texts: ['2024-01-15', '2024-01-15 00:00:00'] },
  { timeZone: 'Europe/London', instant: '2024-06-14T23:00:00Z', texts: ['2024-06-15', '2024-06-15T00:00'] },
]

for (const { timeZone, instant, texts } of forms)
  test(`${texts.join(', ')} in ${timeZone} mean ${instant} and range ends are exclusive`, async () => {
    const caller = await createServiceAround(instant, timeZone)
    const local = instant.replace('Z', '')
    const withOffset = [instant, `${local}.000Z`, `${local}.000000000Z`, `${local}+00:00`, `${local}-00:00`]
    for (const text of [...texts, ...withOffset]) {
      assert.deepEqual(await listSelected(caller, { updated_after: text }), ['after'], text)
      assert.deepEqual(await listSelected(caller, { updated_before: text }), ['before'], text)
      assert.deepEqual(await listSelected(caller, { updated_after: text, updated_before: text }), [], text)
    }
  })

test('an offset shifts the time and fractions keep microseconds', async () => {
  const caller = await createServiceAround('2024-05-10T09:30:00.123456Z', 'UTC')
  for (const text of [
    '2024-05-10T09:30:00.123456Z',
    '2024-05-10T11:30:00.123456+02:00',
    '2024-05-10T04:00:00.123456-05:30',
    '2024-05-10t09:30:00.123456z',
  ])
    assert.deepEqual(await listSelected(caller, { updated_after: text }), ['after'], text)
  assert.deepEqual(await listSelected(caller, { updated_after: '2024-05-10T09:30:00.123455Z' }), ['after', 'at'])
  assert.deepEqual(await listSelected(caller, { updated_after: '2024-05-10T09:30:00.123454Z' }), [
    'after',
    'at',
    'before',
  ])
  assert.deepEqual(await listSelected(caller, { updated_before: '2024-05-10T09:30:00.123457Z' }), ['at', 'before'])
  const range = { updated_after: '2024-05-10T09:30:00.123455Z', updated_before: '2024-05-10T09:30:00.123457Z' }
  assert.deepEqual(await listSelected(caller, range), ['at'])
})

test('an ambiguous hour means the first occurrence', async () => {
  const caller = await createServiceAround('2024-10-27T00:30:00Z', 'Europe/London')
  assert.deepEqual(await listSelected(caller, { updated_after: '2024-10-27T01:30:00' }), ['after'])
})

/** Days without a midnight, because summer time starts then: time zone, day and first instant. */
const withoutMidnight = [
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z'],
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00Z'],
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00Z'],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00Z'],
] as const

test('a day without midnight starts at its first existing time', async () => {
  for (const [timeZone, day, instant] of withoutMidnight) {
    const caller = await createServiceAround(instant, timeZone)
    assert.deepEqual(await listSelected(caller, { updated_after: day }), ['after'], timeZone)
    assert.deepEqual(await listSelected(caller, { updated_before: day }), ['before'], timeZone)
    assert.equal((await caller.get(`/orders/transactions/search?sold_after=${day}`)).status, 200, timeZone)
  }
})

test('a time skipped by the clock is rejected as such', async () => {
  for (const [timeZone, text] of [
    ...withoutMidnight.map(([zone, day]) => [zone, `${day}T00:00`] as const),
    ['Europe/London', '2024-03-31T01:30:00'],
    ['Pacific/Apia', '2011-12-30'],
  ] as const) {
    const { json } = await (await getServiceInZone(timeZone)).get(`/orders/transactions/search?updated_after=${text}`)
    assert.equal(json.errors[0].detail, `\`updated_after\` doesn't exist in ${timeZone}: the clock skips this time.`)
  }
})

const rejectedTexts = [
  '2023-02-30',
  '2023-02-29',
  '1900-02-29',
  '2023-04-31T10:00:00',
  '2023-13-01',
  '2023-00-10',
  '2023-01-00',
  '2023-01-32',
  '0000-00-00',
  '0000-01-01',
  '0000-12-31T23:59:59Z',
  '9999-12-31T23:59:59-23:59',
  '1',
  '2023',
  '2023-05',
  '20230510',
  '20230510T093000Z',
  '2023-5-1',
  '2023/05/10',
  '10.05.2023',
  '05/10/2023',
  'now',
  'today',
  'yesterday',
  'infinity',
  '-infinity',
  'epoch',
  'null',
  '1684000000',
  '1684000000000',
  '-1',
  '2023-05-10T10:00:60',
  '2023-05-10T10:00:60Z',
  '2016-12-31T23:59:60Z',
  '2023-05-10T24:00:00',
  '2023-05-10T24:00',
  '2023-05-10T24:00:00Z',
  '2023-05-10T10:60:00',
  '2023-05-10T25:00:00Z',
  '2023-05-10T10',
  '2023-05-10T10Z',
  '2023-05-10T10:00Z',
  '2023-05-10Z',
  '2023-05-10T10:00:00 02:00',
  '2023-05-10T10:00:00+2',
  '2023-05-10T10:00:00+0200',
  '2023-05-10T10:00:00+02:00:00',
  '2023-05-10T10:00:00+24:00',
  '2023-05-10T10:00:00+02:60',
  '2023-05-10T10:00:00ZZ',
  '2023-05-10T10:00:00 Z',
  '2023-05-10T10:00:00[Europe/London]',
  '2023-05-10T10:00:00Z[Europe/London]',
  '2023-05-10T10:00:00.5',
  '2023-05-10 10:00:00.123456',
  '2023-05-10T10:00:00.Z',
  '2023-05-10T10:00:00.1234567890Z',
  '2023-05-10T10:00:00,5Z',
  '2023-W19-3',
  '2023-130',
  '+002023-05-10T10:00:00Z',
  '-000001-01-01T00:00:00Z',
  '10000-01-01',
  '2023-05-10T10:00:00\0',
  '2023-05-10T10:00:00\n',
  ' 2023-05-10',
  '2023-05-10 ',
  '2023-05-10  10:00:00',
  '２０２３-05-10',
  '2023−05−10',
  "2023-05-10' or '1'='1",
  '2023-05-10T10:00:00Z'.padEnd(5_000, '0'),
  '',
]

test('an unreadable or nonexistent time is rejected with its parameter name', async () => {
  for (const [text, timeZone] of [
    ...rejectedTexts.map(rejectedText => [rejectedText, 'UTC'] as const),
    // The clocks go forward, so these local times don't exist.
    ['2024-03-31T01:30:00', 'Europe/London'] as const,
    ['2024-10-06T02:00:00', 'Australia/Melbourne'] as const,
    ['2024-10-06T02:59', 'Australia/Melbourne'] as const,
    ['2011-12-30', 'Pacific/Apia'] as const,
    // This local time is before the year 1 in UTC.
    ['0001-01-01', 'Australia/Melbourne'] as const,
  ]) {
    const caller = await getServiceInZone(timeZone)
    for (const parameter of ['updated_after', 'updated_before']) {
      const { status, json } = await caller.get(
        `/orders/transactions/search?${new URLSearchParams({ [parameter]: text })}`,
      )
      const label = `${text.slice(0, 40)} in ${timeZone}`
      assert.equal(status, 400, label)
      assert.equal(json.code, 'invalid_timestamp', label)
      assert.deepEqual(
        [json.errors.length, json.errors[0].parameter, json.errors[0].code],
        [1, parameter, 'invalid_timestamp'],
      )
    }
  }
})

const zones = new Map<string, Promise<Caller>>()
const getServiceInZone = (timeZone: string) => {
  const existing = zones.get(timeZone) ?? api.createService({ timeZone, readsPerMinute: 'off' })
  zones.set(timeZone, existing)
  return existing
}

test('an offset with an unescaped plus is rejected', async () => {
  const caller = await getServiceInZone('UTC')
  assert.equal(
    (await caller.get('/customers/search?updated_after=2023-05-10T10:00:00+02:00')).json.code,
    'invalid_timestamp',
  )
  assert.equal((await caller.get('/customers/search?updated_after=2023-05-10T10:00:00%2B02:00')).status, 200)
})

test('a range that ends before its start is rejected as such', async () => {
  const caller = await getServiceInZone('UTC')
  const getRange = (from: string, to: string) =>
    caller.get(`/orders/transactions/search?${new URLSearchParams({ updated_after: from, updated_before: to })}`)
  for (const [from, to] of [
    ['2024-05-10', '2024-05-09'],
    ['2024-05-10T00:00:00.000001Z', '2024-05-10'],
    ['2024-05-10T00:00:00Z', '2024-05-10T01:00:00+02:00'],
  ] as const) {
    const { status, json } = await getRange(from, to)
    assert.equal(status, 422)
    assert.equal(json.code, 'date_range_inverted')
    assert.equal(json.errors[0].parameter, 'updated_before')
  }
  assert.equal((await getRange('2024-05-10', '2024-05-10')).status, 200)
})
