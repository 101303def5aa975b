import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { buildDashboard } from '../../scripts/monitoring/dashboard.ts'
import { sql } from '../../src/database/db.ts'
import { sendGet, waitUntil } from '../support/processes.ts'
import { type MonitoredServer, startMonitoredServer, timeoutMs } from '../support/prometheus/monitored-server.ts'
import { type Prometheus, prometheusMissing, startPrometheus } from '../support/prometheus/prometheus.ts'

const skip = prometheusMissing ?? false
let monitored: MonitoredServer
let prometheus: Prometheus
before(async () => {
  if (skip) return
  monitored = await startMonitoredServer()
  assert.equal((await sendGet(monitored.server, '/stores', monitored.access)).status, 200)
  await monitored.simulator.close()
  await addStockPush()
  prometheus = await startPrometheus(monitored.metrics, 5)
})
after(async () => {
  await prometheus?.close()
  await monitored?.close()
})

/** Connects a service to a platform that can't be reached, with the budget of an earlier call. */
async function addStockPush() {
  await monitored.db.run(sql`
    insert into ecommerce_connection (service_id, connection_id, driver, url, client_id, encrypted_secret, api_version, settings)
    select service_id, 'main', 'shopify', 'https://127.0.0.1:1', 'client', '', '2026-07', '{"stockPush": "dryRun"}' from service where name = 'other'`)
  await monitored.db.run(sql`
    insert into ecommerce_budget select service_id, connection_id, 2000, 100, 500, 1000, 500, now() from ecommerce_connection`)
}

/** Sends one request that succeeds and one that fails. */
async function sendRequests() {
  const { server, access } = monitored
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  assert.equal((await sendGet(server, '/rewards/accounts/7', access)).status, 503)
}

test('each series is exported once, including the effective sync schedule', {
  skip,
}, async () => {
  const isExported = async () => {
    // Sets the interval of a back office that can't return only changes, each time, because a running sync overwrites it.
    await monitored.db.run(sql`update sync_state set full_only_interval = 86400 where sync = 'customers'`)
    return /^tillbridge_sync_schedule_seconds\{.*sync="customers".*\} 86400$/m.test(await monitored.readMetrics())
  }
  await waitUntil(isExported, 'the schedule is exported', timeoutMs)
  const lines = (await monitored.readMetrics()).trim().split('\n')
  const series = lines.filter(line => !line.startsWith('#')).map(line => line.slice(0, line.lastIndexOf(' ')))
  assert.ok(series.length > 100)
  assert.deepEqual(
    series.filter((value, i) => series.indexOf(value) !== i),
    [],
  )
})

test('each dashboard query returns data from a scraped service', { skip }, async () => {
  const panels = buildDashboard().panels.flatMap(panel => ('targets' in panel ? [panel as Panel] : []))
  assert.ok(panels.length > 20, 'the dashboard must have panels')
  for (const { title, targets } of panels)
    for (const { expr } of targets) {
      // Exposed only if replicas or shards exist: test/faults/replicas.test.ts, test/shards/unavailable.test.ts.
      // Only after a backup: test/telemetry/metrics-outage.test.ts.
      if (/tillbridge_(replica|shard|backup)_/.test(expr)) continue
      const query = expr.replaceAll('$__rate_interval', '5m')
      const hasValue = async () => {
        await sendRequests()
        const { result } = await prometheus.query<{ result: Sample[] }>('query', { query })
        return result.some(({ value: [, value] }) => Number.isFinite(Number(value)))
      }
      await waitUntil(hasValue, `${title}: ${query}`, timeoutMs)
    }
})

test('each rule evaluates without error and shows the service as up', { skip }, async () => {
  interface Rules {
    groups: { rules: { name: string; health: string; lastError?: string; state: string }[] }[]
  }
  const listRules = async () => (await prometheus.query<Rules>('rules')).groups.flatMap(({ rules }) => rules)
  await waitUntil(
    async () => (await listRules()).every(({ health }) => health !== 'unknown'),
    'all rules are evaluated',
    timeoutMs,
  )
  const currentRules = await listRules()
  assert.ok(currentRules.length > 10, 'there must be rules')
  assert.deepEqual(
    currentRules.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => [name, lastError]),
    [],
  )
  const isUp = async () =>
    (await listRules()).some(({ name, state }) => name === 'TillbridgeDown' && state === 'inactive')
  await waitUntil(isUp, 'the service counts as up', timeoutMs)
})

interface Panel {
  title: string
  targets: { expr: string }[]
}

interface Sample {
  value: [seconds: number, value: string]
}
