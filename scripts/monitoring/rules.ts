import { bucketsOf, countOf, of } from './promql.ts'

interface Alert {
  alert: string
  expr: string
  for?: string
  /** `page`: somebody looks now; `ticket`: tomorrow will do. */
  severity: 'page' | 'ticket'
  summary: string
  description: string
}

/** Whoever waits for a change, or is streamed them, is not slow. */
const answered = { http_route: '!~"/changes.*"' } as const
const requests = 'http_server_request_duration_seconds'
const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const

/** The share of requests that the service failed, and of those that took longer than a second. */
const shares = {
  'tillbridge:errors:ratio': (range: string) =>
    `sum(rate(${countOf(requests, { http_response_status_code: '=~"5.."' })}[${range}])) / sum(rate(${countOf(requests)}[${range}]))`,
  'tillbridge:slow:ratio': (range: string) =>
    `1 - sum(rate(${bucketsOf(requests, answered, 1)}[${range}])) / sum(rate(${countOf(requests, answered)}[${range}]))`,
}

const recorded = Object.entries(shares).flatMap(([name, share]) =>
  windows.map(range => ({ record: `${name}_rate${range}`, expr: share(range) })),
)

/** Burns of an error budget over two windows at once (The Site Reliability Workbook, chapter 5): soon seen, and soon over. */
function burns(name: string, share: keyof typeof shares, budget: number, told: Pick<Alert, 'summary' | 'description'>) {
  const over = (factor: number, long: string, short: string) => {
    const most = Number((factor * budget).toPrecision(6))
    return `(${share}_rate${long} > ${most} and ${share}_rate${short} > ${most})`
  }
  return [
    { alert: `${name}Fast`, expr: `${over(14.4, '1h', '5m')} or ${over(6, '6h', '30m')}`, severity: 'page', ...told },
    { alert: `${name}Slowly`, expr: `${over(3, '1d', '2h')} or ${over(1, '3d', '6h')}`, severity: 'ticket', ...told },
  ] satisfies Alert[]
}

const lag = of('tillbridge_sync_lag_seconds')
const schedule = of('tillbridge_sync_schedule_seconds')

const free = of('tillbridge_disk_free_bytes')

export const alerts: readonly Alert[] = [
  {
    alert: 'TillbridgeDown',
    expr: 'up{job="tillbridge"} == 0',
    for: '2m',
    severity: 'page',
    summary: '{{ $labels.instance }} does not answer',
    description: 'Its metrics cannot be read. Look at its log, and at `tillbridge doctor`.',
  },
  ...burns('TillbridgeErrorsBurn', 'tillbridge:errors:ratio', 0.001, {
    summary: 'More requests fail than 99.9 % allows',
    description:
      '{{ $value | humanizePercentage }} of the requests end in 5xx. The log has a line at `error` for each, with its request id.',
  }),
  ...burns('TillbridgeLatencyBurn', 'tillbridge:slow:ratio', 0.01, {
    summary: 'More requests are slow than 99 % within a second allows',
    description: '{{ $value | humanizePercentage }} of the requests take longer than a second.',
  }),
  {
    alert: 'TillbridgeSyncStale',
    // What is pulled once a day may be a day old.
    expr: `${lag} > 7200 unless on (service, sync) ${lag} <= on (service, sync) group_left () 3 * max by (service, sync) (${schedule})`,
    for: '10m',
    severity: 'page',
    summary: '{{ $labels.sync }} of {{ $labels.service }} is {{ $value | humanizeDuration }} old',
    description: 'The sync was not pulled to its end for that long: tillbridge sync --status says why.',
  },
  {
    alert: 'TillbridgeSyncFails',
    expr: `${of('tillbridge_sync_failed')} == 1`,
    for: '30m',
    severity: 'ticket',
    summary: '{{ $labels.sync }} of {{ $labels.service }} fails',
    description: 'Its last runs came to nothing: tillbridge sync --status says why.',
  },
  {
    alert: 'TillbridgeBackOfficeAway',
    expr: `${of('tillbridge_back_office_breaker_open')} == 1`,
    for: '5m',
    severity: 'page',
    summary: 'The back office of {{ $labels.service }} does not answer',
    description: 'Calls are kept back; lists go on, writes are 503. tillbridge back-office test says what is wrong.',
  },
  {
    alert: 'TillbridgeReplicaLeftOut',
    expr: `${of('tillbridge_replica_left_out')} == 1`,
    for: '5m',
    severity: 'ticket',
    summary: 'The replica {{ $labels.replica }} answers nothing',
    description: 'The primary answers in its place. tillbridge doctor says what is wrong with it.',
  },
  {
    alert: 'TillbridgeDataDatabaseAway',
    expr: `${of('tillbridge_data_database_up')} == 0`,
    for: '2m',
    severity: 'page',
    summary: 'The database {{ $labels.database }} cannot be worked with',
    description: 'Its services are answered 503. tillbridge shard list says why.',
  },
  {
    alert: 'TillbridgeDiskAlmostFull',
    expr: `${free} / ${of('tillbridge_disk_size_bytes')} < 0.1`,
    for: '10m',
    severity: 'page',
    summary: 'Less than a tenth of the disk is free',
    description: 'A database that cannot write stops: {{ $value | humanizePercentage }} is free where DATA_DIR is.',
  },
  {
    alert: 'TillbridgeDiskFills',
    expr: `predict_linear(${free}[6h], 2 * 86400) < 0`,
    for: '1h',
    severity: 'ticket',
    summary: 'The disk is full within two days',
    description: 'As it has filled for six hours.',
  },
  {
    alert: 'TillbridgeCertificateEnds',
    expr: `${of('tillbridge_certificate_expiry_timestamp_seconds')} - time() < 14 * 86400`,
    for: '1h',
    severity: 'ticket',
    summary: 'The certificate expires in {{ $value | humanizeDuration }}',
    description: 'Nobody is served after that. Renew the file that TLS_CERT_FILE names: it is read again by itself.',
  },
  {
    alert: 'TillbridgeMailWaits',
    expr: `sum(${of('tillbridge_jobs', { kind: 'send-email', state: 'due' })}) > 0`,
    for: '15m',
    severity: 'page',
    summary: 'E-mails that are due are not sent',
    description: '{{ $value }} wait. Look at the mail server, and whether a worker runs.',
  },
  {
    alert: 'TillbridgeMailFailed',
    expr: `delta(${of('tillbridge_mails', { state: 'failed' })}[1h]) > 0`,
    severity: 'ticket',
    summary: 'An e-mail was given up',
    description: 'tillbridge mail list shows it; tillbridge mail retry sends it again.',
  },
  {
    alert: 'TillbridgeJobsWait',
    expr: `${of('tillbridge_jobs_oldest_due_seconds')} > 300`,
    for: '5m',
    severity: 'page',
    summary: 'Nobody does the jobs',
    description:
      'One has been due for {{ $value | humanizeDuration }}. Does a worker run, or start with RUN_JOBS=true?',
  },
  {
    alert: 'TillbridgeAlertOpen',
    expr: `${of('tillbridge_alerts')} > 0`,
    severity: 'ticket',
    summary: '{{ $labels.kind }}: somebody has to look',
    description: 'tillbridge alert list says at what.',
  },
  {
    alert: 'TillbridgeConnectionsShort',
    expr: `${of('db_client_connection_pending_requests')} > 0`,
    for: '5m',
    severity: 'ticket',
    summary: 'Requests wait for a connection to the database',
    description:
      'Of the pool {{ $labels.db_client_connection_pool_name }}. See DATABASE_POOL, and what the database is busy with.',
  },
  {
    alert: 'TillbridgeEventLoopLate',
    expr: `${of('tillbridge_event_loop_delay_seconds', { quantile: '0.99' })} > 0.5`,
    for: '10m',
    severity: 'ticket',
    summary: 'A process that serves is short of CPU',
    description: 'Its timers are {{ $value | humanizeDuration }} late. More WEB_CONCURRENCY, or more machines.',
  },
  {
    alert: 'TillbridgeTracesLost',
    expr: `rate(${of('tillbridge_spans_total', { result: 'lost' })}[15m]) > 0`,
    for: '30m',
    severity: 'ticket',
    summary: 'Traces are lost',
    description: 'The collector does not take them; the log says why.',
  },
]

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The rules as Prometheus reads them. */
export const rulesText =
  () => `# Made by \`npm run docs\` of scripts/monitoring/rules.ts and the list of metrics; docs/operate/monitor.md tells how to use it.
groups:
  - name: tillbridge-shares
    rules:
${recorded.map(({ record, expr }) => `      - record: ${record}\n        expr: ${quoted(expr)}\n`).join('')}
  - name: tillbridge
    rules:
${alerts
  .map(
    one => `      - alert: ${one.alert}
        expr: ${quoted(one.expr)}
${one.for === undefined ? '' : `        for: ${one.for}\n`}        labels:
          severity: ${one.severity}
        annotations:
          summary: ${quoted(one.summary)}
          description: ${quoted(one.description)}
`,
  )
  .join('')}`
