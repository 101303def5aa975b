import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Database, sql } from '../../src/database/db.ts'
import { checkMappings } from '../../src/store/mappings/check-all.ts'
import { createTestDatabase } from '../support/database.ts'
import { waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { documentOf, type PlannedRequest } from './plans/document.ts'
import { type Explainer, openExplainer, type Plan, type Step, statementsOf } from './plans/explain.ts'
import { type ListRequest, lists, requestsFor } from './plans/requests.ts'
import { fill } from './plans/shop.ts'

// Requests every list over HTTPS, on tables with the statistics of production services. The statements that a request
// sends to PostgreSQL are repeated until their plans are stable, and `auto_explain` logs the plans. `plans.md` holds
// all of them. If they are meant to change, run `npm run plans`.

type Fault = 'a whole table' | 'a sort' | 'more rows than a page'

interface Exception {
  list: string
  /** Filters of the request. The exception applies if these are used, alone or with others. */
  filters: string[]
  faults: Fault[]
  why: string
  /** More rows than these it never reads; absent: as few as there are of what the filter names. */
  rows?: number
}

/** Two ranges at once are served by no index (src/store/lists/filtered-scan.ts). */
const sieved = {
  faults: ['a sort', 'more rows than a page'] satisfies Fault[],
  why: 'What fits is sorted where it is little; else so many places of the walk are looked at for a page.',
  rows: 12_001,
}

/** Known deviations and their reasons. Remove an entry when it is fixed. */
const exceptions: Exception[] = [
  {
    list: '/stores',
    filters: ['ecommerce_location_id'],
    faults: ['more rows than a page'],
    why: 'Of stores a service has so few that all can be looked at.',
  },
  { list: '/staff', filters: ['email'], faults: ['a sort'], why: 'An address is of one person.' },
  { list: '/staff', filters: ['code'], faults: ['a sort'], why: 'A code is of one person.' },
  { list: '/products', filters: ['code'], faults: ['a sort'], why: 'A code is of one product.' },
  { list: '/products', filters: ['sku', 'updated_after'], faults: ['a sort'], why: 'An SKU is of one product.' },
  { list: '/customers', filters: ['email'], faults: ['a sort'], why: 'An address is of one customer.' },
  {
    list: '/inventory',
    filters: ['sku', 'store_number'],
    faults: ['a sort'],
    why: 'An SKU in a store is one record.',
  },
  ...['stores', 'skus', 'customers'].map(kind => ({
    list: `/mappings/issues/${kind}`,
    filters: [],
    faults: ['a whole table'] satisfies Fault[],
    why: 'The times of the checks are in three rows of a service.',
  })),
  {
    list: '/audit',
    filters: ['record', 'account'],
    faults: ['more rows than a page'],
    why: 'Of one record few lines are written.',
  },
  { list: '/orders', filters: ['order_number'], faults: ['a sort'], why: 'A number is of one order.' },
  { list: '/orders/{id}/returns', filters: [], faults: ['a sort'], why: 'By id or by number, an order is one of two.' },
  {
    list: '/orders/{id}/shipments',
    filters: [],
    faults: ['a sort'],
    why: 'By id or by number, an order is one of two.',
  },
  {
    list: '/syncs/{sync}/runs',
    filters: [],
    faults: ['a whole table', 'a sort'],
    why: 'Of syncs a service has few, and of notes a run.',
  },
  {
    list: '/requests',
    filters: [],
    faults: ['a sort', 'more rows than a page'],
    why: 'Blocks of lines are walked by their seconds until there are enough lines, and the lines of a second put in order.',
    rows: 30_001,
  },
  { list: '/changes', filters: [], faults: ['a sort'], why: 'What is on the page is put in order again.' },
  {
    list: '/changes',
    filters: ['records'],
    faults: ['a whole table'],
    why: 'Of programmes, tiers and gifts there are few.',
  },
  {
    list: '/ecommerce/levels',
    filters: [],
    faults: ['a whole table', 'a sort', 'more rows than a page'],
    why: 'A service has one connection and few stores, and a SKU has few items. The levels of a state have no index of their own.',
  },
  {
    list: '/ecommerce/reconciliations/{id}/drift',
    filters: [],
    faults: ['a sort'],
    why: 'A SKU has few items.',
  },
  { list: '/inventory', filters: ['sku', 'updated_after'], ...sieved },
  { list: '/orders/transactions/search', filters: ['updated_before'], ...sieved },
  { list: '/orders/transactions/search', filters: ['updated_after', 'asc'], ...sieved },
  { list: '/orders/transactions/search', filters: ['updated_after', 'sold_after'], ...sieved },
  { list: '/orders/transactions/search', filters: ['updated_after', 'sold_before'], ...sieved },
]

suite('plans', { skip: await otherPostgres() }, () => {
  let api: TestApi
  let explainer: Explainer
  const plannedRequests: PlannedRequest[] = []

  before(async () => {
    api = await startTestApi({ settings: { readsPerMinute: 'off' } })
    await fill(api.db, api.service, 1)
    for (const scale of [0.2, 0.02]) await fill(api.db, (await api.createService()).service, scale)
    await analyze(api.db)
    explainer = await openExplainer(api.database.connection)
    for (const request of lists.flatMap(requestsFor)) plannedRequests.push(...(await pagesOf(request)))
  })
  after(async () => {
    await explainer?.close()
    await api?.stop()
  })

  /** Requests the first page and one after the first record. Returns no pages if the filters are rejected. */
  async function pagesOf(request: ListRequest): Promise<PlannedRequest[]> {
    const ask = async (page: PlannedRequest['page'], url: string) => {
      const { result: response, statements } = await statementsOf(() => api.get(url))
      const plans: Plan[] = []
      // Statements without a service belong to the process: accounts, back offices, the watermark.
      for (const statement of statements)
        if (/service_id = \$/.test(statement.text)) plans.push(await explainer.explain(statement))
      return { ...request, page, records: response.json.data.length, plans }
    }
    const { status, json, text } = await api.get(withParameter(request, 'limit=1'))
    if (status !== 200)
      assert.match(text, /date_range_inverted|Send exactly one of|is required|can't be combined/, request.url)
    if (status !== 200) return []
    const first = await ask('first page', request.url)
    if (!json.meta.hasNextPage) return [first]
    return [first, await ask('later page', withParameter(request, `after_cursor=${json.meta.endCursor}`))]
  }

  test('every list has more than a page and is tested deeper', () => {
    const full = plannedRequests.filter(({ page, records }) => page === 'later page' && records >= 100)
    assert.deepEqual(
      [...new Set(full.map(({ list }) => list))],
      // Only the order with a number is requested.
      lists.map(({ path }) => path).filter(path => path !== '/orders'),
    )
  })

  test('a page uses an index and reads at most one row more', () => {
    const wrong = plannedRequests.flatMap(planned =>
      faultsOf(planned)
        .filter(fault => !exceptions.some(exception => covers(exception, planned, fault)))
        .map(fault => `${planned.url}, ${planned.page}: ${fault}`),
    )
    assert.deepEqual(wrong, [])
  })

  test('each exception is still necessary', () => {
    const obsolete = exceptions.flatMap(exception =>
      exception.faults
        .filter(
          fault =>
            !plannedRequests.some(planned => covers(exception, planned, fault) && faultsOf(planned).includes(fault)),
        )
        .map(fault => `${exception.list}?${exception.filters.join('&')}: ${fault}`),
    )
    assert.deepEqual(obsolete, [])
  })

  test('two combined ranges read at most the rows a page allows', () => {
    const costly = plannedRequests.flatMap(planned => {
      const bounds = exceptions.flatMap(exception =>
        exception.rows && covers(exception, planned, 'a sort') ? [exception.rows] : [],
      )
      const mostRows = Math.max(...planned.plans.flatMap(({ steps }) => steps.map(({ rows }) => rows)))
      // A first page without a record continues once with four times the rows, so that it is empty only if the list is.
      const growth = planned.page === 'first page' ? 4 : 1
      return bounds.length && mostRows > Math.max(...bounds) * growth
        ? [`${planned.url}, ${planned.page}: ${mostRows}`]
        : []
    })
    assert.deepEqual(costly, [])
  })

  test('a mapping check finds records and near matches by index', async () => {
    const { statements } = await statementsOf(() => checkMappings(api.db, api.service))
    const checking = new Map(
      statements.filter(({ text }) => text.includes('mapping_issue')).map(statement => [statement.text, statement]),
    )
    const steps: string[] = []
    for (const query of checking.values()) steps.push(...(await explainer.explain(query)).steps.map(({ does }) => does))
    assert.ok(steps.some(does => does.includes('ecommerce_item_near_id')))
    assert.deepEqual(
      steps.filter(does => /Seq Scan (variant|customer|stock|ecommerce_item|mapping_issue)$/.test(does)),
      [],
    )
  })

  test('the check finds table scans, sorts and excess rows', async () => {
    const text = 'select record from audit where record <> $1 order by record limit 100'
    const plan = await explainer.explain({ text, values: [''] })
    const errors = faultsOf({ records: 100, plans: [plan] })
    assert.deepEqual(errors.sort(), ['a sort', 'a whole table', 'more rows than a page'])
  })

  test('the plans match plans.md', t => {
    t.assert.fileSnapshot(documentOf(plannedRequests), fileURLToPath(new URL('plans.md', import.meta.url)), {
      serializers: [String],
    })
  })
})

/** Why the plans of this PostgreSQL say nothing; false where they do. */
async function otherPostgres() {
  const { db, drop } = await createTestDatabase()
  const { rows } = await db.pool.query('show server_version_num').finally(drop)
  return Number(rows[0].server_version_num) < 180_000 && 'plans.md is of the bundled PostgreSQL 18'
}

/** Looks at all rows rather than at some, so that it finds the same every time. */
async function analyze(db: Database) {
  // A page that a concurrent statement reads is not marked as visible, which changes the costs of index-only scans.
  await waitUntil(
    async () => {
      await db.run(sql`vacuum`)
      return !(await db.row(
        sql`select from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relallvisible < relpages limit 1`,
      ))
    },
    'all pages are visible',
    60_000,
  )
  await db.transaction(async tx => {
    await tx.run(sql`set local default_statistics_target = 200`)
    await tx.run(sql`analyze`)
  })
}

const withParameter = ({ url, filters }: ListRequest, parameter: string) =>
  `${url}${filters.length ? '&' : '?'}${parameter}`

function faultsOf({ records, plans }: Pick<PlannedRequest, 'records' | 'plans'>): Fault[] {
  const faults = plans.flatMap(({ steps }) => steps.flatMap(step => faultsOfStep(step, Math.max(100, records))))
  return [...new Set(faults)]
}

const faultsOfStep = ({ does, rows }: Step, page: number): Fault[] => [
  ...(does.includes('Seq Scan') ? ['a whole table' as const] : []),
  ...(does.includes('Sort') ? ['a sort' as const] : []),
  ...(rows > page + 1 ? ['more rows than a page' as const] : []),
]

const covers = ({ list, filters, faults }: Exception, request: ListRequest, fault: Fault) =>
  list === request.list && faults.includes(fault) && filters.every(name => request.filters.includes(name))
