import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseRelease } from '../../src/backoffice/apparel21/client/release.ts'
import { prefersStrict } from '../../src/http/routing/prefer.ts'
import { createIntegerParser, createMoneyParser } from '../../src/import/pipeline/numbers.ts'
import { createDateReader } from '../../src/import/pipeline/times.ts'
import { watchEventLoop } from '../support/event-loop.ts'
import { importAndWait } from '../support/import-and-wait.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

let api: TestApi
before(async () => {
  api = await startTestApi({ role: 'admin' })
})
after(() => api.stop())

/** Uploads a file, waits until its import has ended, and returns the record and the longest stretch of work in milliseconds. */
async function importWatched(path: string, body: string) {
  const loop = watchEventLoop()
  const ended = new AbortController()
  const live = probeLive(ended.signal)
  const record = await importAndWait(api, path, body).finally(() => ended.abort())
  const longestMs = loop.stop()
  const medianMs = await live
  assert.ok(medianMs < maxMs, `/health/live: ${medianMs} ms`)
  return { record, longestMs }
}

/** Requests `/health/live` again and again. Returns the median time, because other processes delay single requests on a busy machine. */
async function probeLive(signal: AbortSignal) {
  const times: number[] = []
  do {
    const start = performance.now()
    assert.equal((await api.sendRaw('/health/live')).status, 200)
    times.push(performance.now() - start)
  } while (!signal.aborted)
  return times.sort((x, y) => x - y)[times.length >> 1] ?? 0
}

const maxMs = 100
const blanks = ' '.repeat(40)
const zeros = '0'.repeat(200_000)

test('a date format with many blanks does not block an import', async () => {
  const { record, longestMs } = await importWatched(
    `customers?date_format=${encodeURIComponent(`DD${blanks}MM.YYYY`)}`,
    `id,surname,dateOfBirth\n1,Smith,01${' '.repeat(60)}x\n`,
  )
  assert.deepEqual([record.state, record.rejected], ['ok', 1])
  assert.ok(longestMs < maxMs, `${longestMs} ms`)
})

test('long cells of numbers, dates and texts are rejected without blocking', async () => {
  const cells = [
    ['transactions', `id,lineId,saleDate,quantity,price\n1,1,2026-01-01,1,1.${zeros}1\n`],
    ['transactions', `id,lineId,saleDate,quantity,price\n1,1,2026-01-01,1.${zeros}1,1\n`],
    ['transactions', `id,lineId,saleDate,quantity,price\n1,1,2026-01-01${' '.repeat(200_000)}x,1,1\n`],
    ['customers', `id,surname,references\n1,Smith,a=${' '.repeat(200_000)}=\n`],
    ['customers', `id,surname,email\n1,Smith,${'a@'.repeat(100_000)}\n`],
  ] as const
  for (const [type, file] of cells) {
    const { record, longestMs } = await importWatched(type, file)
    assert.deepEqual([type, record.state, record.rejected], [type, 'ok', 1])
    assert.ok(longestMs < maxMs, `${file.slice(0, 60)}: ${longestMs} ms`)
  }
})

test('a quotation mark that is not closed does not block an import', async () => {
  const file = `id,surname\n"${'\n1'.repeat(1_500_000)}\n`
  const { record, longestMs } = await importWatched('customers?stop_after=5000', file)
  assert.ok(record.rejected >= 5000)
  assert.ok(longestMs < maxMs, `${longestMs} ms`)
})

test('long headers and bodies do not block a request', async () => {
  const loop = watchEventLoop()
  const prefer = `tx${' '.repeat(15_000)}x`
  assert.equal((await api.get('/stores', { prefer })).status, 200)
  const surname = `${'a'.repeat(100_000)}\u0001`
  const rejected = await api.request('/customers', {
    method: 'POST',
    body: JSON.stringify({ surname, contact: { email: `${'a.'.repeat(50_000)}@` } }),
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(rejected.status, 400)
  assert.ok(rejected.json.errors.length >= 2, rejected.text)
  const longestMs = loop.stop()
  assert.ok(longestMs < maxMs, `${longestMs} ms`)
})

test('bodies with many values and unknown fields do not block a request', async () => {
  const bodies = {
    'unknown fields': JSON.stringify(Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`f${i}`, 1]))).slice(
      0,
      -1,
    ),
    'fewer unknown fields': JSON.stringify(Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`f${i}`, 1]))),
    'empty objects': `{"returnReasons":[${'{},'.repeat(80_000)}{}]}`,
    numbers: `[${'0,'.repeat(120_000)}0]`,
  }
  const headers = { 'content-type': 'application/json', 'if-match': '*', 'sec-fetch-site': 'same-origin' }
  for (const [name, body] of Object.entries(bodies))
    for (const [method, path] of [
      ['PUT', '/settings'],
      ['POST', '/console/session'],
    ] as const) {
      const loop = watchEventLoop()
      const { status, json } = await api.request(path, { method, headers, body: body.slice(0, 262_144) })
      const longestMs = loop.stop()
      assert.equal(status, 400)
      assert.ok((json.errors ?? []).length <= 100)
      assert.ok(longestMs < maxMs, `${name} at ${path}: ${longestMs} ms`)
    }
})

test('parsers of foreign text take linear time', () => {
  const read = createDateReader(`DD${blanks}MM.YYYY`)
  const parsers: [string, () => unknown][] = [
    ['a date', () => read(`01${' '.repeat(1_000_000)}x`)],
    ['an amount', () => createMoneyParser('AUD')(`1.${'0'.repeat(1_000_000)}1`)],
    ['an integer', () => createIntegerParser({})(`1.${'0'.repeat(1_000_000)}1`)],
    ['an amount with groups', () => createMoneyParser('AUD', ',')(`${'1.000'.repeat(200_000)}x`)],
    ['a preference', () => prefersStrict(`a${' \t'.repeat(500_000)}x`)],
    ['an open quote of a preference', () => prefersStrict(`${'a="'.repeat(300_000)}`)],
    ['a page of open brackets', () => parseRelease('<'.repeat(1_000_000))],
    ['a page of titles', () => parseRelease('Retail API Release '.repeat(50_000))],
    ['a page of blanks', () => parseRelease(`Retail API Release${' '.repeat(1_000_000)}`)],
  ]
  for (const [name, parse] of parsers) {
    const start = process.threadCpuUsage().user
    parse()
    const ms = (process.threadCpuUsage().user - start) / 1000
    assert.ok(ms < 500, `${name}: ${ms} ms`)
  }
})
