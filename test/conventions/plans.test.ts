import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Database, sql } from '../../src/database/db.ts'
import { checkMappings } from '../../src/store/mappings/check-all.ts'
import { createTestDatabase } from '../support/database.ts'
import { waitUntil } from '../support/processes.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type PlannedRequest, renderDocument } from './plans/document.ts'
import { captureStatements, type Explainer, openExplainer, type Plan, type Step } from './plans/explain.ts'
import { buildRequests, type ListRequest, lists } from './plans/requests.ts'
import { fillService } from './plans/shop.ts'

// Requests every list over HTTPS, on tables with the statistics of production services. Repeats the statements that a
// request sends to PostgreSQL until their plans are stable, and compares the plans that `auto_explain` logs with
// `plans.md`. After an intended change, run `npm run plans`.

type PlanProblem = 'a whole table' | 'a sort' | 'more rows than a page'

interface Exception {
  list: string
  /** Filters of the request. The exception applies if these are used, alone or with others. */
  filters: string[]
  problems: PlanProblem[]
  reason: string
  /** Maximum rows that a step reads. If undefined, the filter matches few records. */
  maxRows?: number
}

/** No index serves two ranges at once, so the list uses a bounded filtered scan (src/store/lists/filtered-scan.ts). */
const filteredScan = {
  problems: ['a sort', 'more rows than a page'] satisfies PlanProblem[],
  reason: 'A small result is sorted. For a large one, a page reads a limited number of rows.',
  maxRows: 12_001,
}

/** Known deviations and their reasons. Remove an entry when it is fixed. */
const exceptions: Exception[] = [
  {
    list: '/stores',
    filters: ['ecommerce_location_id'],
    problems: ['more rows than a page'],
    reason: 'A service has few stores, so all can be read.',
  },
  { list: '/staff', filters: ['email'], problems: ['a sort'], reason: 'An email address belongs to one person.' },
  { list: '/staff', filters: ['code'], problems: ['a sort'], reason: 'A code belongs to one person.' },
  { list: '/products', filters: ['code'], problems: ['a sort'], reason: 'A code belongs to one product.' },
  {
    list: '/products',
    filters: ['sku', 'updated_after'],
    problems: ['a sort'],
    reason: 'A SKU belongs to one product.',
  },
  { list: '/customers', filters: ['email'], problems: ['a sort'], reason: 'An email address belongs to one customer.' },
  {
    list: '/inventory',
    filters: ['sku', 'store_number'],
    problems: ['a sort'],
    reason: 'A SKU in a store is one record.',
  },
  ...['stores', 'skus', 'customers'].map(kind => ({
    list: `/mappings/issues/${kind}`,
    filters: [],
    problems: ['a whole table'] satisfies PlanProblem[],
    reason: 'The times of the checks are in three rows per service.',
  })),
  {
    list: '/audit',
    filters: ['record', 'account'],
    problems: ['more rows than a page'],
    reason: 'A record has few audit entries.',
  },
  { list: '/orders', filters: ['order_number'], problems: ['a sort'], reason: 'A number belongs to one order.' },
  {
    list: '/orders/{id}/returns',
    filters: [],
    problems: ['a sort'],
    reason: 'An ID or a number matches at most two orders.',
  },
  {
    list: '/orders/{id}/shipments',
    filters: [],
    problems: ['a sort'],
    reason: 'An ID or a number matches at most two orders.',
  },
  {
    list: '/syncs/{sync}/runs',
    filters: [],
    problems: ['a whole table', 'a sort'],
    reason: 'A service has few syncs, and a run has few notes.',
  },
  {
    list: '/requests',
    filters: [],
    problems: ['a sort', 'more rows than a page'],
    reason:
      'Blocks of log entries are read by their second until a page is full, and the entries of a second are sorted.',
    maxRows: 30_001,
  },
  { list: '/changes', filters: [], problems: ['a sort'], reason: 'The changes of a page are sorted again.' },
  {
    list: '/changes',
    filters: ['records'],
    problems: ['a whole table'],
    reason: 'A service has few programs, tiers and gifts.',
  },
  {
    list: '/ecommerce/levels',
    filters: [],
    problems: ['a whole table', 'a sort', 'more rows than a page'],
    reason:
      'A service has one connection and few stores, and a SKU has few items. The levels of a state have no index of their own.',
  },
  {
    list: '/ecommerce/reconciliations/{id}/drift',
    filters: [],
    problems: ['a sort'],
    reason: 'A SKU has few items.',
  },
  { list: '/inventory', filters: ['sku', 'updated_after'], ...filteredScan },
  { list: '/orders/transactions/search', filters: ['updated_before'], ...filteredScan },
  { list: '/orders/transactions/search', filters: ['updated_after', 'asc'], ...filteredScan },
  { list: '/orders/transactions/search', filters: ['updated_after', 'sold_after'], ...filteredScan },
  { list: '/orders/transactions/search', filters: ['updated_after', 'sold_before'], ...filteredScan },
]

suite('plans', { skip: await findSkipReason() }, () => {
  let api: TestApi
  let explainer: Explainer
  const plannedRequests: PlannedRequest[] = []

  before(async () => {
    api = await startTestApi({ settings: { readsPerMinute: 'off' } })
    await fillService(api.db, api.service, 1)
    for (const scale of [0.2, 0.02]) await fillService(api.db, (await api.createService()).service, scale)
    await analyzeTables(api.db)
    explainer = await openExplainer(api.database.connection)
    for (const request of lists.flatMap(buildRequests)) plannedRequests.push(...(await planPages(request)))
  })
  after(async () => {
    await explainer?.close()
    await api?.stop()
  })

  /** Plans the first page and the page after the first record. Returns no pages if the API rejects the combination of filters. */
  async function planPages(request: ListRequest): Promise<PlannedRequest[]> {
    const planPage = async (page: PlannedRequest['page'], url: string) => {
      const { result: response, statements } = await captureStatements(() => api.get(url))
      const plans: Plan[] = []
      // Statements without a service read data of the process: accounts, back offices, the watermark.
      for (const statement of statements)
        if (/service_id = \$/.test(statement.text)) plans.push(await explainer.explain(statement))
      return { ...request, page, records: response.json.data.length, plans }
    }
    const { status, json, text } = await api.get(withParameter(request, 'limit=1'))
    if (status !== 200)
      assert.match(text, /date_range_inverted|Send exactly one of|is required|can't be combined/, request.url)
    if (status !== 200) return []
    const first = await planPage('first page', request.url)
    if (!json.meta.hasNextPage) return [first]
    return [first, await planPage('later page', withParameter(request, `after_cursor=${json.meta.endCursor}`))]
  }

  test('every list has more than a page and is tested deeper', () => {
    const full = plannedRequests.filter(({ page, records }) => page === 'later page' && records >= 100)
    assert.deepEqual(
      [...new Set(full.map(({ list }) => list))],
      // The list of orders is only requested for one order number.
      lists.map(({ path }) => path).filter(path => path !== '/orders'),
    )
  })

  test('a page uses an index and reads at most one row more', () => {
    const wrong = plannedRequests.flatMap(planned =>
      findProblems(planned)
        .filter(problem => !exceptions.some(exception => covers(exception, planned, problem)))
        .map(problem => `${planned.url}, ${planned.page}: ${problem}`),
    )
    assert.deepEqual(wrong, [])
  })

  test('each exception is still necessary', () => {
    const obsolete = exceptions.flatMap(exception =>
      exception.problems
        .filter(
          problem =>
            !plannedRequests.some(
              planned => covers(exception, planned, problem) && findProblems(planned).includes(problem),
            ),
        )
        .map(problem => `${exception.list}?${exception.filters.join('&')}: ${problem}`),
    )
    assert.deepEqual(obsolete, [])
  })

  test('two combined ranges read at most the rows a page allows', () => {
    const costly = plannedRequests.flatMap(planned => {
      const bounds = exceptions.flatMap(exception =>
        exception.maxRows && covers(exception, planned, 'a sort') ? [exception.maxRows] : [],
      )
      const readRows = Math.max(...planned.plans.flatMap(({ steps }) => steps.map(({ rows }) => rows)))
      // A first page without a record continues once with four times the rows, so that it is empty only if the list is.
      const growth = planned.page === 'first page' ? 4 : 1
      return bounds.length && readRows > Math.max(...bounds) * growth
        ? [`${planned.url}, ${planned.page}: ${readRows}`]
        : []
    })
    assert.deepEqual(costly, [])
  })

  test('a mapping check finds records and near matches by index', async () => {
    const { statements } = await captureStatements(() => checkMappings(api.db, api.service))
    const checking = new Map(
      statements.filter(({ text }) => text.includes('mapping_issue')).map(statement => [statement.text, statement]),
    )
    const steps: string[] = []
    for (const query of checking.values())
      steps.push(...(await explainer.explain(query)).steps.map(({ operation }) => operation))
    assert.ok(steps.some(operation => operation.includes('ecommerce_item_near_id')))
    assert.deepEqual(
      steps.filter(operation => /Seq Scan (variant|customer|stock|ecommerce_item|mapping_issue)$/.test(operation)),
      [],
    )
  })

  test('the check finds table scans, sorts and excess rows', async () => {
    const text = 'select record from audit where record <> $1 order by record limit 100'
    const plan = await explainer.explain({ text, values: [''] })
    const errors = findProblems({ records: 100, plans: [plan] })
    assert.deepEqual(errors.sort(), ['a sort', 'a whole table', 'more rows than a page'])
  })

  test('the plans match plans.md', t => {
    t.assert.fileSnapshot(renderDocument(plannedRequests), fileURLToPath(new URL('plans.md', import.meta.url)), {
      serializers: [String],
    })
  })
})

/** Returns the reason to skip the tests on an older PostgreSQL, or false. */
async function findSkipReason() {
  const { db, drop } = await createTestDatabase()
  const { rows } = await db.pool.query('show server_version_num').finally(drop)
  return Number(rows[0].server_version_num) < 180_000 && 'plans.md contains the plans of PostgreSQL 18'
}

/** Analyzes all rows instead of a sample, so that the statistics are always the same. */
async function analyzeTables(db: Database) {
  // Vacuum can't mark a page as visible while another statement reads it. That changes the costs of index-only scans.
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

function findProblems({ records, plans }: Pick<PlannedRequest, 'records' | 'plans'>): PlanProblem[] {
  const problems = plans.flatMap(({ steps }) => steps.flatMap(step => findStepProblems(step, Math.max(100, records))))
  return [...new Set(problems)]
}

const findStepProblems = ({ operation, rows }: Step, page: number): PlanProblem[] => [
  ...(operation.includes('Seq Scan') ? ['a whole table' as const] : []),
  ...(operation.includes('Sort') ? ['a sort' as const] : []),
  ...(rows > page + 1 ? ['more rows than a page' as const] : []),
]

const covers = ({ list, filters, problems }: Exception, request: ListRequest, problem: PlanProblem) =>
  list === request.list && problems.includes(problem) && filters.every(name => request.filters.includes(name))
