import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { getMetric, type MetricName, metrics } from '../../src/telemetry/metric-list.ts'
import { buildDashboard } from './dashboard.ts'
import { renderRules } from './rules.ts'

const root = new URL('../../', import.meta.url)

function buildMetricsPage() {
  const rows = (Object.keys(metrics) as MetricName[]).map(name => {
    const { type, help, labels } = getMetric(name)
    return `| \`${name}\` | ${type} | ${labels.map(label => `\`${label}\``).join(', ')} | ${help} |\n`
  })
  return `# Metrics

The metrics at \`/metrics\`, generated from \`src/telemetry/metric-list.ts\` by \`npm run docs\`. See [Monitor](../operate/monitor.md).
Metrics without the prefix \`tillbridge_\` have the names of OpenTelemetry's semantic conventions. A histogram also has \`_bucket\` (with \`le\`), \`_sum\` and \`_count\`.

| Metric | Type | Labels | Meaning |
|---|---|---|---|
${rows.join('')}`
}

/** Builds the files that are generated from the metric list. Returns their texts by path. */
export function buildMonitoringFiles(): Record<string, string> {
  const dashboardText = `${JSON.stringify(buildDashboard(), undefined, 2)}\n`
  return {
    'docs/reference/metrics.md': buildMetricsPage(),
    'deploy/prometheus/rules.yml': renderRules(),
    'deploy/grafana/tillbridge.json': dashboardText,
    // A chart can only read files in its own folder.
    'deploy/helm/tillbridge/files/rules.yml': renderRules(),
    'deploy/helm/tillbridge/files/dashboard.json': dashboardText,
  }
}

if (import.meta.main)
  for (const [name, text] of Object.entries(buildMonitoringFiles())) {
    const file = new URL(name, root)
    if ((await readFile(file, 'utf8').catch(() => undefined)) === text) continue
    await mkdir(new URL('.', file), { recursive: true })
    await writeFile(file, text)
    console.log(`${name} is written.`)
  }
