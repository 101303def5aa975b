import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import fc from 'fast-check'
import { startSimulator } from '../../../simulator/simulator.ts'
import { createClient } from '../../../src/backoffice/apparel21/client/client.ts'
import { type ListSummary, readPages } from '../../../src/backoffice/apparel21/client/pagination.ts'
import { createReleaseReader } from '../../../src/backoffice/apparel21/client/release.ts'
import { buildSyncs } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import { readText } from '../../../src/backoffice/apparel21/xml/values.ts'
import { defaultSettings } from '../../../src/domain/tenancy/service-settings.ts'
import { ApiError } from '../../../src/errors/api-error.ts'
import { startHttpServer } from '../servers.ts'

const simulator = await startSimulator({ sizes: { persons: 130 } })
after(() => simulator.close())
afterEach(() => simulator.faults.clear())

const timeZone = 'Australia/Melbourne'
const query = { endpoint: 'persons', path: ['Persons'], roots: ['Persons', 'Person'], record: 'Person' } as const
const getKey = (person: Parameters<typeof readText>[0]) => readText(person, 'Id') ?? ''

async function read(url: string, pageRows: number): Promise<{ ids: string[]; report: ListSummary }> {
  const client = createClient({ url, countryCode: 'AU', timeZone, limits: { pageRows } })
  const report: ListSummary = {}
  try {
    const pages = await Array.fromAsync(readPages(client, { ...query, getKey: getKey }, report))
    return { ids: pages.flat().map(getKey), report }
  } finally {
    client.close()
  }
}

const isFault = (error: unknown) => error instanceof ApiError && error.code === 'back_office_error'

/** Runs `readAll` against a server that returns `respond(url)` for each request. */
async function readFrom<T>(respond: (url: URL) => string, readAll: (base: string) => Promise<T>): Promise<T> {
  const server = await startHttpServer((request, response) =>
    response.end(respond(new URL(request.url ?? '', 'http://x'))),
  )
  try {
    return await readAll(server.url)
  } finally {
    await server.close()
  }
}

/** Reads a list from a server whose pages are built by `buildPage`. `call` counts from 1. */
async function readGenerated(pageRows: number, buildPage: (startRow: number, call: number) => string) {
  let calls = 0
  const result = await readFrom(
    url => buildPage(Number(url.searchParams.get('startRow')), ++calls),
    base => read(base, pageRows),
  )
  return { ...result, calls }
}

const list = (ids: readonly number[], total?: number) =>
  `<Persons${total === undefined ? '' : ` TotalRows="${total}"`}>${ids.map(id => `<Person><Id>${id}</Id></Person>`).join('')}</Persons>`
const buildRange = (from: number, to: number) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

test('every record is read once for any page size and end marker', async () => {
  const all = [...simulator.state.persons.keys()].map(String)
  for (const pastEnd of ['empty', '5008', 'list'] as const) {
    simulator.set({ pastEnd })
    for (const pageRows of [2, 13, 65, 129, 130, 131, 500]) {
      const { ids, report } = await read(simulator.url, pageRows)
      assert.deepEqual([pageRows, ids.toSorted(), report.total], [pageRows, all.toSorted(), 130])
    }
  }
})

test('a server without paging, or with smaller pages, is read completely', async () => {
  const old = await startSimulator({ release: '2021.1', sizes: { persons: 40 } })
  for (const pageRows of [10, 40, 100]) assert.equal((await read(old.url, pageRows)).ids.length, 40)
  await old.close()
  const capped = await readGenerated(100, start => list(buildRange(start, Math.min(start + 29, 95)), 95))
  assert.deepEqual(capped.ids.map(Number), buildRange(1, 95))
})

test('an empty list is read with and without attributes', async () => {
  assert.deepEqual((await readGenerated(10, () => list([], 0))).ids, [])
  assert.deepEqual((await readGenerated(10, () => '<Persons />')).ids, [])
  await assert.rejects(
    readGenerated(10, () => ''),
    isFault,
  )
})

test('an endlessly repeated page is detected', async () => {
  simulator.faults.add({ kind: 'same-page' })
  await assert.rejects(read(simulator.url, 20), isFault)
  for (const total of [21, 40, 1_000])
    await assert.rejects(
      readGenerated(20, () => list(buildRange(1, 20), total)),
      isFault,
    )
  const withoutTotal = await readGenerated(20, () => list(buildRange(1, 20)))
  assert.deepEqual([withoutTotal.ids.length, withoutTotal.calls], [20, 2])
})

test('shuffled pages are detected', async () => {
  simulator.faults.add({ kind: 'shuffled' })
  await assert.rejects(read(simulator.url, 20), isFault)
})

test('a page that does not follow the previous one is detected', async () => {
  await assert.rejects(
    readGenerated(20, start => list(buildRange(start + (start > 1 ? 3 : 0), start + 19), 100)),
    isFault,
  )
})

test('a row count that differs from TotalRows is detected', async () => {
  await assert.rejects(
    readGenerated(20, (_, call) => (call === 1 ? list(buildRange(1, 7), 6) : '')),
    isFault,
  )
  await assert.rejects(
    readGenerated(20, (start, call) => (call === 1 ? list(buildRange(1, 20), 60) : list(buildRange(start, 30), 30))),
    isFault,
  )
  await assert.rejects(
    readGenerated(20, (_, call) => (call === 1 ? list(buildRange(1, 20), 60) : '')),
    isFault,
  )
})

test('an endlessly growing list is aborted', async () => {
  const reading = readGenerated(500, start => list(buildRange(start, start + 499), start + 600))
  await assert.rejects(reading, isFault)
})

test('the full stock contains the declared number of styles or fails', async () => {
  const buildStyle = (id: number) => `<Style StyleIdx="${id}"><Store StoreId="1" FreeStock="2" /></Style>`
  const fetchStock = (total: number, styles: number) =>
    readFrom(
      () => `<FreeStock TotalRows="${total}">${buildRange(1, styles).map(buildStyle).join('')}</FreeStock>`,
      async base => {
        const client = createClient({ url: base, countryCode: 'AU', timeZone, pinnedRelease: '2025.1' })
        const sync = buildSyncs(client, createReleaseReader(client)).find(({ name }) => name === 'stock')
        assert.ok(sync)
        const { signal } = new AbortController()
        const nothing = {
          unknownReferences: async () => [],
          skusWithPriceChanges: async () => [],
          storeKinds: async (ids: readonly string[]) => new Map(ids.map(id => [id, 'store' as const])),
          openOrders: async () => [],
          openReturns: async () => [],
          now: async () => '',
          refreshes: (async function* () {})(),
        }
        try {
          const request = { since: undefined, settings: defaultSettings, signal, ...nothing }
          return (await Array.fromAsync(sync.fetch(request))).flatMap(({ rows }) => rows?.stock ?? [])
        } finally {
          client.close()
        }
      },
    )
  assert.equal((await fetchStock(30, 30)).length, 30)
  await assert.rejects(fetchStock(31, 30), isFault)
  await assert.rejects(fetchStock(29, 30), isFault)
})

test('rows that move between pages are not missed', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ at: fc.nat(), moves: fc.constantFrom('gone', 'new', 'last') }), { maxLength: 4 }),
      async changes => {
        // The list changes once before each page except the first. Pages overlap by two rows.
        let rows = buildRange(1, 120)
        const expectedIds = new Set(rows)
        let next = 1_000
        const pages = await readGenerated(40, (start, call) => {
          const change = call > 1 ? changes[call - 2] : undefined
          if (change) {
            const [moved = 0] = rows.splice(change.at % rows.length, 1)
            expectedIds.delete(moved)
            if (change.moves === 'last') rows = [...rows, moved]
            if (change.moves === 'new') rows.splice(change.at % rows.length, 0, moved, ++next)
          }
          return list(rows.slice(start - 1, start + 39), rows.length)
        }).catch(error => {
          assert.ok(isFault(error), String(error))
        })
        if (!pages) return
        const readIds = new Set(pages.ids.map(Number))
        assert.deepEqual(
          [...expectedIds].filter(id => !readIds.has(id)),
          [],
        )
      },
    ),
    { numRuns: 60 },
  ))
