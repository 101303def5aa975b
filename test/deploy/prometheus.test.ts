import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { dashboard } from '../../scripts/monitoring/dashboard.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { openDatabase, sql } from '../../src/db.ts'
import { keysFrom } from '../../src/secrets.ts'
import { addService } from '../../src/services.ts'
import { raiseAlert } from '../../src/store/running/alerts.ts'
import { queueVoucherMail } from '../../src/store/running/mails.ts'
import { gift } from '../support/mailing.ts'
import { ask, begin, directory, readAccess, serve, somePort, stop, until } from '../support/processes.ts'
import { startCollector } from '../telemetry/collector.ts'

const hasPrometheus = spawnSync('prometheus', ['--version']).error === undefined
const skip = hasPrometheus ? false : 'prometheus (Debian: prometheus) is not installed'
const home = directory()
const metricsPort = somePort()
const port = somePort()
const patienceMs = 120_000
const rules = fileURLToPath(new URL('../../deploy/prometheus/rules.yml', import.meta.url))

const ends: (() => Promise<unknown>)[] = []
after(async () => {
  for (const end of ends.reverse()) await end()
})

interface Found {
  metric: Record<string, string>
  value: [seconds: number, value: string]
}

async function askPrometheus<T>(path: string, parameters: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`)
  const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string }
  assert.equal(status, 'success', error ?? '')
  return data
}

const told = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()

/** Has each figure told, again whenever what it returns is called: feeds that are pulled and that fail, e-mails, alerts, requests that are answered and that are not. */
async function live() {
  const simulator = await startSimulator({ sizes: { persons: 3 } })
  const collector = await startCollector()
  ends.push(simulator.close, collector.close)
  const environment = {
    DATA_DIR: join(home, 'data'),
    METRICS_PORT: metricsPort,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: simulator.url,
    BACK_OFFICE_COUNTRY: 'AU',
    LOG_LEVEL: 'silent',
  }
  // The first start makes a service, and reads what is in its back office.
  const service = await serve([], environment)
  ends.push(() => stop(service))
  const access = readAccess(environment.DATA_DIR)
  assert.equal((await ask(service, '/stores', access)).status, 200)
  const dataDir = environment.DATA_DIR
  const db = openDatabase(JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8')), { onFault: () => {} })
  try {
    const other = await addService(db, 'other')
    assert.ok(other)
    const keys = keysFrom(readFileSync(join(dataDir, 'secret'), 'utf8').trim())
    await db.transaction(tx => queueVoucherMail(tx, keys, other, gift))
    await raiseAlert(db, other.id, { kind: 'sync_failing', subject: 'stock', detail: 'for the dashboard' })
    await until(async () => /tillbridge_sync_lag_seconds\{/.test(await told()), 'a feed was pulled', patienceMs)
    await simulator.close()
    // As a run of the feed leaves it where the back office cannot say what has changed.
    await db.run(sql`update sync_state set whole_every = 86400 where feed = 'customers'`)
  } finally {
    await db.close()
  }
  return async () => {
    assert.equal((await ask(service, '/stores', access)).status, 200)
    assert.equal((await ask(service, '/rewards/accounts/7', access)).status, 503)
  }
}

let again: () => Promise<void>
before(async () => {
  if (!hasPrometheus) return
  again = await live()
  const config = join(home, 'prometheus.json')
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '5s', scrape_timeout: '5s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'tillbridge', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] }],
    }),
  )
  const listening = `--web.listen-address=127.0.0.1:${port}`
  begin(
    [`--config.file=${config}`, `--storage.tsdb.path=${join(home, 'tsdb')}`, listening],
    {},
    { program: ['prometheus'] },
  )
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(isReady, 'Prometheus is ready', patienceMs)
  interface Targets {
    activeTargets: { health: string; lastError: string }[]
  }
  let why = ''
  const isRead = async () => {
    const [target] = (await askPrometheus<Targets>('targets')).activeTargets
    why = target?.lastError ?? ''
    return target?.health === 'up'
  }
  await until(isRead, 'Prometheus reads the service', patienceMs).catch(error => assert.fail(`${error}: ${why}`))
})

test('each series is told once, the schedule of a feed too, which is how often anything can be asked for', {
  skip,
}, async () => {
  const isTold = async () => /^tillbridge_sync_schedule_seconds\{.*feed="customers".*\} 86400$/m.test(await told())
  await until(isTold, 'it is told', patienceMs)
  const lines = (await told()).trim().split('\n')
  const series = lines.filter(line => !line.startsWith('#')).map(line => line.slice(0, line.lastIndexOf(' ')))
  assert.ok(series.length > 100)
  assert.deepEqual(
    series.filter((one, i) => series.indexOf(one) !== i),
    [],
  )
})

test('each query of the dashboard finds something in what a Prometheus has read of a service', { skip }, async () => {
  const panels = dashboard().panels.flatMap(panel => ('targets' in panel ? [panel as Panel] : []))
  assert.ok(panels.length > 20, 'panels are found')
  for (const { title, targets } of panels)
    for (const { expr } of targets) {
      // Told only where there are such: test/faults/replicas.test.ts, test/running/databases/away.test.ts.
      if (/tillbridge_(replica|data_database)_/.test(expr)) continue
      const query = expr.replaceAll('$__rate_interval', '5m')
      const found = async () => {
        await again()
        const { result } = await askPrometheus<{ result: Found[] }>('query', { query })
        return result.some(({ value: [, value] }) => Number.isFinite(Number(value)))
      }
      await until(found, `${title}: ${query}`, patienceMs)
    }
})

test('each rule is evaluated on it without an error, and says that the service is up', { skip }, async () => {
  interface Rules {
    groups: { rules: { name: string; health: string; lastError?: string; state: string }[] }[]
  }
  const all = async () => (await askPrometheus<Rules>('rules')).groups.flatMap(({ rules }) => rules)
  await until(async () => (await all()).every(({ health }) => health !== 'unknown'), 'all are evaluated', patienceMs)
  const read = await all()
  assert.ok(read.length > 10, 'rules are found')
  assert.deepEqual(
    read.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => [name, lastError]),
    [],
  )
  const isUp = async () => (await all()).some(({ name, state }) => name === 'TillbridgeDown' && state === 'inactive')
  await until(isUp, 'the service counts as up', patienceMs)
})

interface Panel {
  title: string
  targets: { expr: string }[]
}
