import { readFileSync } from 'node:fs'
import { selectBuckets, selectCount, selectMetric } from './promql.ts'

interface Alert {
  alert: string
  expr: string
  for?: string
  /** `page`: a person looks now. `ticket`: a person looks the next day. */
  severity: 'page' | 'ticket'
  summary: string
  description: string
}

const runbookHeadings = readFileSync(new URL('../../docs/operate/runbooks.md', import.meta.url), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('### '))
  .map(line => line.slice('### '.length))

/** Excludes requests that wait for changes or stream them: they are long, not slow. */
const withoutChangeStreams = { http_route: '!~"/changes.*"' } as const
const requestDuration = 'http_server_request_duration_seconds'
const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const

/** PromQL of the share of failed requests, and of the share of requests that took longer than a second. */
const shares = {
  'tillbridge:errors:ratio': (range: string) =>
    `sum(rate(${selectCount(requestDuration, { http_response_status_code: '=~"5.."' })}[${range}])) / sum(rate(${selectCount(requestDuration)}[${range}]))`,
  'tillbridge:slow:ratio': (range: string) =>
    `1 - sum(rate(${selectBuckets(requestDuration, withoutChangeStreams, 1)}[${range}])) / sum(rate(${selectCount(requestDuration, withoutChangeStreams)}[${range}]))`,
}

const recordingRules = Object.entries(shares).flatMap(([name, share]) =>
  windows.map(range => ({ record: `${name}_rate${range}`, expr: share(range) })),
)

/** Returns the anchor that a Markdown renderer gives to the heading of a runbook. */
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')

/** Returns the path of an alert's runbook: the section whose heading names it, alone or with other alerts. */
function findRunbook(alert: string) {
  const heading = runbookHeadings.find(title => title.split(', ').includes(alert))
  if (heading === undefined) throw new Error(`docs/operate/runbooks.md has no section for ${alert}.`)
  return `docs/operate/runbooks.md#${toAnchor(heading)}`
}

/** Multi-window burn-rate alerts of an error budget (The Site Reliability Workbook, chapter 5). They fire and end quickly. */
function buildBurnAlerts(
  name: string,
  share: keyof typeof shares,
  budget: number,
  texts: Pick<Alert, 'summary' | 'description'>,
) {
  const renderBurn = (factor: number, long: string, short: string) => {
    const threshold = Number((factor * budget).toPrecision(6))
    return `(${share}_rate${long} > ${threshold} and ${share}_rate${short} > ${threshold})`
  }
  return [
    {
      alert: `${name}Fast`,
      expr: `${renderBurn(14.4, '1h', '5m')} or ${renderBurn(6, '6h', '30m')}`,
      severity: 'page',
      ...texts,
    },
    {
      alert: `${name}Slowly`,
      expr: `${renderBurn(3, '1d', '2h')} or ${renderBurn(1, '3d', '6h')}`,
      severity: 'ticket',
      ...texts,
    },
  ] satisfies Alert[]
}

const lag = selectMetric('tillbridge_sync_lag_seconds')
const schedule = selectMetric('tillbridge_sync_schedule_seconds')

const freeBytes = selectMetric('tillbridge_disk_free_bytes')

export const alerts: readonly Alert[] = [
  {
    alert: 'TillbridgeDown',
    expr: 'up{job="tillbridge"} == 0',
    for: '2m',
    severity: 'page',
    summary: '{{ $labels.instance }} is down',
    description: "Its metrics can't be read. Check its log and run `tillbridge doctor`.",
  },
  ...buildBurnAlerts('TillbridgeErrorsBurn', 'tillbridge:errors:ratio', 0.001, {
    summary: 'The error rate exceeds the 99.9 % objective',
    description:
      '{{ $value | humanizePercentage }} of the requests end in 5xx. Each is logged at level `error` with its request ID.',
  }),
  ...buildBurnAlerts('TillbridgeLatencyBurn', 'tillbridge:slow:ratio', 0.01, {
    summary: 'The latency exceeds the objective of 99 % within a second',
    description: '{{ $value | humanizePercentage }} of the requests take longer than a second.',
  }),
  {
    alert: 'TillbridgeSyncStale',
    // A sync that runs once a day can have a lag of a day.
    expr: `${lag} > 7200 unless on (service, sync) ${lag} <= on (service, sync) group_left () 3 * max by (service, sync) (${schedule})`,
    for: '10m',
    severity: 'page',
    summary: 'Sync {{ $labels.sync }} of {{ $labels.service }} has a lag of {{ $value | humanizeDuration }}',
    description: 'No run has completed since. Run tillbridge sync --status to see the cause.',
  },
  {
    alert: 'TillbridgeSyncFails',
    expr: `${selectMetric('tillbridge_sync_failed')} == 1`,
    for: '30m',
    severity: 'ticket',
    summary: 'Sync {{ $labels.sync }} of {{ $labels.service }} keeps failing',
    description: 'Run tillbridge sync --status to see the cause.',
  },
  {
    alert: 'TillbridgeBackOfficeDown',
    expr: `${selectMetric('tillbridge_back_office_breaker_open')} == 1`,
    for: '5m',
    severity: 'page',
    summary: 'The back office of {{ $labels.service }} is down',
    description:
      'The circuit breaker is open. Lists are served, writes return 503. Run tillbridge back-office test to see the cause.',
  },
  {
    alert: 'TillbridgeReplicaSkipped',
    expr: `${selectMetric('tillbridge_replica_skipped')} == 1`,
    for: '5m',
    severity: 'ticket',
    summary: 'Replica {{ $labels.replica }} is skipped',
    description: 'The primary serves its reads. Run tillbridge doctor to see the cause.',
  },
  {
    alert: 'TillbridgeDatabaseDown',
    expr: `${selectMetric('tillbridge_database_up')} == 0`,
    for: '1m',
    severity: 'page',
    summary: 'The control database is unavailable to {{ $labels.instance }}',
    description: 'Requests return 503. Run tillbridge doctor to see the cause.',
  },
  {
    alert: 'TillbridgeCommitsWait',
    expr: `${selectMetric('tillbridge_commits_waiting_seconds')} > 5`,
    for: '1m',
    severity: 'page',
    summary: 'Commits wait for a synchronous standby',
    description:
      'A commit has been waiting for {{ $value | humanizeDuration }}. Writes return 504 outcome_unknown, lists are served. Repair the standby or change synchronous_standby_names.',
  },
  {
    alert: 'TillbridgeBackupOld',
    expr: `time() - max by (database) (${selectMetric('tillbridge_backup_timestamp_seconds')}) > 2 * max by (database) (${selectMetric('tillbridge_backup_schedule_seconds')})`,
    for: '1h',
    severity: 'ticket',
    summary: 'The newest backup of {{ $labels.database }} is older than two intervals of the schedule',
    description: 'Run tillbridge backup to see the cause. If another tool makes your backups, remove this rule.',
  },
  {
    alert: 'TillbridgePostgresOutdated',
    expr: `max by (database) (${selectMetric('tillbridge_postgres_minor_releases_behind')}) > 0`,
    for: '1d',
    severity: 'ticket',
    summary: 'PostgreSQL of {{ $labels.database }} lacks {{ $value }} minor releases',
    description: 'Minor releases fix security defects. Update the packages of PostgreSQL and restart it.',
  },
  {
    alert: 'TillbridgeShardDown',
    expr: `${selectMetric('tillbridge_shard_up')} == 0`,
    for: '2m',
    severity: 'page',
    summary: 'Shard {{ $labels.shard }} is down',
    description: 'Requests for its services return 503. Run tillbridge shard list to see the cause.',
  },
  {
    alert: 'TillbridgeDiskAlmostFull',
    expr: `${freeBytes} / ${selectMetric('tillbridge_disk_size_bytes')} < 0.1`,
    for: '10m',
    severity: 'page',
    summary: 'Less than 10 % of the disk is free',
    description:
      '{{ $value | humanizePercentage }} of the disk of DATA_DIR is free. PostgreSQL stops if the disk is full.',
  },
  {
    alert: 'TillbridgeDiskFills',
    expr: `predict_linear(${freeBytes}[6h], 2 * 86400) < 0`,
    for: '1h',
    severity: 'ticket',
    summary: 'The disk will be full within two days',
    description: 'At the rate of the last six hours.',
  },
  {
    alert: 'TillbridgeCertificateExpires',
    expr: `${selectMetric('tillbridge_certificate_expiry_timestamp_seconds')} - time() < 14 * 86400`,
    for: '1h',
    severity: 'ticket',
    summary: 'The certificate expires in {{ $value | humanizeDuration }}',
    description:
      'Clients will reject it after that. Renew the file named by TLS_CERT_FILE; it is reloaded automatically.',
  },
  {
    alert: 'TillbridgeEmailWaits',
    expr: `max(${selectMetric('tillbridge_jobs_oldest_due_seconds', { kind: 'send-email' })}) > 600`,
    for: '5m',
    severity: 'page',
    summary: 'Emails are not being sent',
    description:
      'An email has been due for {{ $value | humanizeDuration }}. Check the mail server, and that a worker is running.',
  },
  {
    alert: 'TillbridgeEmailFailed',
    expr: `delta(${selectMetric('tillbridge_emails', { state: 'failed' })}[1h]) > 0`,
    severity: 'ticket',
    summary: 'An email failed permanently',
    description: 'Run tillbridge mail list to see it and tillbridge mail retry to send it again.',
  },
  {
    alert: 'TillbridgeJobsWait',
    expr: `max(${selectMetric('tillbridge_jobs_oldest_due_seconds')}) > 300`,
    for: '5m',
    severity: 'page',
    summary: 'Jobs are not being run',
    description:
      'A job has been due for {{ $value | humanizeDuration }}. Check that a worker is running, or that a server runs with RUN_JOBS=true.',
  },
  {
    alert: 'TillbridgeAlertOpen',
    expr: `${selectMetric('tillbridge_alerts')} > 0`,
    severity: 'ticket',
    summary: 'Unresolved alert: {{ $labels.kind }}',
    description: 'Run tillbridge alert list to see it and its remedy.',
  },
  {
    alert: 'TillbridgeConnectionsShort',
    expr: `${selectMetric('db_client_connection_pending_requests')} > 0`,
    for: '5m',
    severity: 'ticket',
    summary: 'Requests wait for a database connection',
    description:
      'The pool {{ $labels.db_client_connection_pool_name }} is exhausted. Check DATABASE_POOL and the load of the database.',
  },
  {
    alert: 'TillbridgeEventLoopLate',
    expr: `${selectMetric('tillbridge_event_loop_delay_seconds', { percentile: '99' })} > 0.5`,
    for: '10m',
    severity: 'ticket',
    summary: 'A server process is short of CPU',
    description:
      'Its event loop is delayed by {{ $value | humanizeDuration }}. Increase WEB_CONCURRENCY or add machines.',
  },
  {
    alert: 'TillbridgeTracesLost',
    expr: `rate(${selectMetric('tillbridge_spans_total', { result: 'lost' })}[15m]) > 0`,
    for: '30m',
    severity: 'ticket',
    summary: 'Traces are being lost',
    description: 'The collector rejects them. Check the log for the cause.',
  },
]

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Renders the rules file for Prometheus. */
export const renderRules =
  () => `# Generated by \`npm run docs\` from scripts/monitoring/rules.ts. See docs/operate/monitor.md.
groups:
  - name: tillbridge-shares
    rules:
${recordingRules.map(({ record, expr }) => `      - record: ${record}\n        expr: ${quote(expr)}\n`).join('')}
  - name: tillbridge
    rules:
${alerts
  .map(
    alert => `      - alert: ${alert.alert}
        expr: ${quote(alert.expr)}
${alert.for === undefined ? '' : `        for: ${alert.for}\n`}        labels:
          severity: ${alert.severity}
        annotations:
          summary: ${quote(alert.summary)}
          description: ${quote(alert.description)}
          runbook: ${findRunbook(alert.alert)}
`,
  )
  .join('')}`
