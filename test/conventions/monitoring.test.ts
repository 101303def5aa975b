import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { buildDashboard } from '../../scripts/monitoring/dashboard.ts'
import { selectMetric } from '../../scripts/monitoring/promql.ts'
import { alerts, renderRules } from '../../scripts/monitoring/rules.ts'
import { buildMonitoringFiles } from '../../scripts/monitoring/write.ts'
import { metrics } from '../../src/telemetry/metric-list.ts'

const root = new URL('../../', import.meta.url)
const rulesTests = ['rules.test.yml', 'rules-days.test.yml'].map(name =>
  fileURLToPath(new URL(`deploy/prometheus/${name}`, root)),
)

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined
const skip = hasPromtool ? false : 'promtool (Debian: prometheus) is not installed'

/** The queries of the dashboard. */
const queries = buildDashboard().panels.flatMap(panel =>
  'targets' in panel ? (panel.targets as { expr: string }[]) : [],
)

test('rules, dashboard and metrics page match the list of metrics', () => {
  for (const [name, text] of Object.entries(buildMonitoringFiles()))
    assert.equal(readFileSync(new URL(name, root), 'utf8'), text, `${name} is stale: run npm run docs`)
})

test('rules and dashboard name only exported metrics', () => {
  const metricNames = new Set<string>(Object.keys(metrics))
  const text = [renderRules(), ...queries.map(({ expr }) => expr)].join('\n')
  const namedMetrics = [...text.matchAll(/\b(?:tillbridge|http_server|http_client|db_client)_[a-z_]+(?=[{[ )]|$)/gm)]
    .map(([name]) => name.replace(/_(bucket|sum|count)$/, base => (metricNames.has(name) ? base : '')))
    .filter(name => !/^(http|db)_[a-z_]+(code|method|route|name|state)$/.test(name))
  assert.ok(new Set(namedMetrics).size >= 15, 'metrics are found')
  assert.deepEqual(
    namedMetrics.filter(name => !metricNames.has(name)),
    [],
  )
})

test('each metric is on the dashboard unless a standard name covers it', () => {
  const dashboardQueries = queries.map(({ expr }) => expr).join('\n')
  const embeddedOnly = ['tillbridge_http_requests_total', 'tillbridge_http_request_duration_seconds']
  const missing = Object.keys(metrics).filter(name => !dashboardQueries.includes(name))
  assert.deepEqual(missing, embeddedOnly)
})

test('a metric has no label that Prometheus adds', () => {
  const reserved = Object.entries(metrics).filter(([, { labels }]) =>
    labels.some(label => /^(job|instance)$/.test(label)),
  )
  assert.deepEqual(reserved, [])
})

test('queries select only labels that their metric has', () => {
  assert.equal(selectMetric('tillbridge_emails', { state: 'failed' }), 'tillbridge_emails{state="failed"}')
  // @ts-expect-error: the metric has no such label.
  assert.equal(selectMetric('tillbridge_emails', { kind: 'failed' }), 'tillbridge_emails{kind="failed"}')
})

test('docs/operate/monitor.md names each rule or its pair', () => {
  const page = readFileSync(new URL('docs/operate/monitor.md', root), 'utf8')
  const isNamed = (name: string) =>
    page.includes(`\`${name}\``) || page.includes(`\`…${name.replace(/^.*(?=Slowly)/, '')}\``)
  assert.deepEqual(
    alerts.map(({ alert }) => alert).filter(name => !isNamed(name)),
    [],
  )
})

test('each alert has a summary and a remedy', () => {
  assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length)
  for (const { summary, description } of alerts) assert.ok(summary.length > 10 && description.length > 20)
})

test('each rule names a runbook section that exists', () => {
  const headings = readFileSync(new URL('docs/operate/runbooks.md', root), 'utf8').match(/^### .*$/gm) ?? []
  const anchors = headings.map(
    heading => `docs/operate/runbooks.md#${heading.slice(4).toLowerCase().replaceAll(',', '').replaceAll(' ', '-')}`,
  )
  const namedSections = renderRules().match(/(?<= {10}runbook: ).*$/gm) ?? []
  assert.equal(namedSections.length, alerts.length)
  assert.deepEqual(
    namedSections.filter(name => !anchors.includes(name)),
    [],
  )
})

test('each rule has a scenario that fires and one that does not', () => {
  interface Scenario {
    alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[]
  }
  const scenarios: Scenario[] = rulesTests.flatMap(file => parse(readFileSync(file, 'utf8')).tests)
  const cases = scenarios.flatMap(({ alert_rule_test: tests = [] }) => tests)
  for (const fires of [true, false]) {
    const testedAlerts = new Set(
      cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname),
    )
    assert.deepEqual(
      alerts.map(({ alert }) => alert).filter(name => !testedAlerts.has(name)),
      [],
      fires ? 'must fire' : 'must not fire',
    )
  }
})

test('the rules fire only under their conditions', { skip }, () => {
  const output = execFileSync('promtool', ['test', 'rules', ...rulesTests], { encoding: 'utf8', stdio: 'pipe' })
  assert.match(output, /SUCCESS/)
})

test("the dashboard's queries are valid PromQL", { skip }, async t => {
  const directory = await mkdtemp(join(tmpdir(), 'tillbridge-promql-'))
  t.after(() => rm(directory, { recursive: true }))
  const rules = queries.map(({ expr }, i) => ({
    record: `query:${i}`,
    expr: expr.replaceAll('$__rate_interval', '1m'),
  }))
  const file = join(directory, 'rules.json')
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const output = execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8', stdio: 'pipe' })
  assert.match(output, new RegExp(`SUCCESS: ${queries.length} rules found`))
})

test('the dashboard counts jobs once, however many processes report them', { skip }, async t => {
  const directory = await mkdtemp(join(tmpdir(), 'tillbridge-promql-'))
  t.after(() => rm(directory, { recursive: true }))
  const expected = {
    Jobs: ['tillbridge_jobs', 'kind="send-email", state="due"'],
    'Oldest waiting job': ['tillbridge_jobs_oldest_due_seconds', 'kind="send-email"'],
    Emails: ['tillbridge_emails', 'state="queued"'],
    Alerts: ['tillbridge_alerts', 'kind="webhook"'],
  }
  const tests = Object.entries(expected).map(([title, [metric, labels]]) => {
    const panel = buildDashboard().panels.find(candidate => 'title' in candidate && candidate.title === title)
    const [target] = panel && 'targets' in panel ? (panel.targets as { expr: string }[]) : []
    return {
      input_series: ['one:9464', 'two:9464'].map(instance => ({
        series: `${metric}{${labels}, instance="${instance}"}`,
        values: '5',
      })),
      promql_expr_test: [
        { expr: target?.expr ?? '', eval_time: '0m', exp_samples: [{ labels: `{${labels}}`, value: 5 }] },
      ],
    }
  })
  const file = join(directory, 'tests.json')
  await writeFile(file, JSON.stringify({ tests }))
  const output = execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8', stdio: 'pipe' })
  assert.match(output, /SUCCESS/)
})
