import type { MetricName } from '../../src/telemetry/metric-list.ts'
import { selectBuckets, selectCount, selectMetric } from './promql.ts'

/** A query and the legend of its series. */
type Line = readonly [expr: string, legend: string]

interface Panel {
  title: string
  /** Grafana's unit identifier. */
  unit: 's' | 'reqps' | 'percentunit' | 'bytes' | 'short' | 'ops'
  lines: readonly Line[]
  /** Thresholds of a stat panel, which shows the current value instead of series. Grafana's default is red from 80. */
  steps?: readonly { value: number | null; color: 'green' | 'red' }[]
}

const range = '$__rate_interval'
const requestDuration = 'http_server_request_duration_seconds'
const selectRate = (expr: string) => `rate(${expr}[${range}])`
const listQuantiles = (name: MetricName): Line[] =>
  [0.5, 0.95, 0.99].map(share => [
    `histogram_quantile(${share}, sum by (le) (${selectRate(selectBuckets(name))}))`,
    `p${share * 100}`,
  ])

const redFromOne = [{ value: null, color: 'green' } as const, { value: 1, color: 'red' } as const]

/** The rows of the dashboard, from the API down to the infrastructure. */
const rows: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'Requests',
    [
      {
        title: 'Requests by status',
        unit: 'reqps',
        lines: [
          [
            `sum by (http_response_status_code) (${selectRate(selectCount(requestDuration))})`,
            '{{http_response_status_code}}',
          ],
        ],
      },
      { title: 'Duration', unit: 's', lines: listQuantiles(requestDuration) },
      {
        title: 'Error rate (5xx)',
        unit: 'percentunit',
        lines: [
          [
            `sum(${selectRate(selectCount(requestDuration, { http_response_status_code: '=~"5.."' }))}) / sum(${selectRate(selectCount(requestDuration))})`,
            'failed',
          ],
        ],
      },
      {
        title: 'Errors by code',
        unit: 'reqps',
        lines: [
          [
            `sum by (error_type) (${selectRate(selectCount(requestDuration, { error_type: '!=""' }))})`,
            '{{error_type}}',
          ],
        ],
      },
      {
        title: 'Slowest routes (p99)',
        unit: 's',
        lines: [
          [
            `topk(10, histogram_quantile(0.99, sum by (le, http_route) (${selectRate(selectBuckets(requestDuration))})))`,
            '{{http_route}}',
          ],
        ],
      },
      {
        title: 'In flight',
        unit: 'short',
        lines: [[`sum(${selectMetric('http_server_active_requests')})`, 'requests']],
      },
    ],
  ],
  [
    'Syncs and back offices',
    [
      {
        title: 'Sync age',
        unit: 's',
        lines: [[`max by (service, sync) (${selectMetric('tillbridge_sync_lag_seconds')})`, '{{service}} {{sync}}']],
      },
      {
        title: 'Sync intervals',
        unit: 's',
        lines: [
          [`max by (service, sync) (${selectMetric('tillbridge_sync_schedule_seconds')})`, '{{service}} {{sync}}'],
        ],
      },
      {
        title: 'Failing syncs',
        unit: 'short',
        lines: [
          [`sum by (service) (max by (service, sync) (${selectMetric('tillbridge_sync_failed')}))`, '{{service}}'],
        ],
      },
      {
        title: 'E-commerce levels',
        unit: 'short',
        lines: [
          [`max by (service) (${selectMetric('tillbridge_ecommerce_due')})`, '{{service}} due'],
          [`max by (service) (${selectMetric('tillbridge_ecommerce_held')})`, '{{service}} held'],
          [`max by (service) (${selectMetric('tillbridge_ecommerce_drift')})`, '{{service}} drift'],
        ],
      },
      {
        title: 'E-commerce push lag',
        unit: 's',
        lines: [[`max by (service) (${selectMetric('tillbridge_ecommerce_lag_seconds')})`, '{{service}}']],
      },
      {
        title: 'Throttled e-commerce calls',
        unit: 'short',
        lines: [
          [`sum by (service) (${selectRate(selectMetric('tillbridge_ecommerce_throttled_total'))})`, '{{service}}'],
        ],
      },
      {
        title: 'E-commerce points',
        unit: 'short',
        lines: [[`max by (service) (${selectMetric('tillbridge_ecommerce_points')})`, '{{service}}']],
      },
      {
        title: 'Records in the last run',
        unit: 'short',
        lines: [
          [
            `sum by (sync, result) (max by (service, sync, result) (${selectMetric('tillbridge_sync_records')}))`,
            '{{sync}} {{result}}',
          ],
        ],
      },
      {
        title: 'Open circuit breakers',
        unit: 'short',
        steps: redFromOne,
        lines: [[`sum(${selectMetric('tillbridge_back_office_breaker_open')})`, 'open']],
      },
      { title: 'Back-office call duration', unit: 's', lines: listQuantiles('http_client_request_duration_seconds') },
      {
        title: 'Failed back-office calls',
        unit: 'reqps',
        lines: [
          [
            `sum by (server_address, error_type) (${selectRate(selectCount('http_client_request_duration_seconds', { error_type: '!=""' }))})`,
            '{{server_address}} {{error_type}}',
          ],
        ],
      },
    ],
  ],
  [
    'Jobs and emails',
    [
      {
        title: 'Jobs',
        unit: 'short',
        lines: [[`max by (kind, state) (${selectMetric('tillbridge_jobs')})`, '{{kind}} {{state}}']],
      },
      {
        title: 'Oldest waiting job',
        unit: 's',
        lines: [[`max by (kind) (${selectMetric('tillbridge_jobs_oldest_due_seconds')})`, '{{kind}}']],
      },
      {
        title: 'Emails',
        unit: 'short',
        lines: [[`max by (state) (${selectMetric('tillbridge_emails')})`, '{{state}}']],
      },
      {
        title: 'Alerts',
        unit: 'short',
        steps: redFromOne,
        lines: [[`max by (kind) (${selectMetric('tillbridge_alerts')})`, '{{kind}}']],
      },
    ],
  ],
  [
    'Infrastructure',
    [
      { title: 'SQL statement duration', unit: 's', lines: listQuantiles('db_client_operation_duration_seconds') },
      {
        title: 'Database connections',
        unit: 'short',
        lines: [
          [
            `sum by (pool, state) (${selectMetric('tillbridge_database_connections', { state: '!="waiting"' })})`,
            '{{pool}} {{state}}',
          ],
          [`sum(${selectMetric('db_client_connection_pending_requests')})`, 'waiting requests'],
          [`sum(${selectMetric('db_client_connection_max')})`, 'maximum'],
        ],
      },
      {
        title: 'Replica lag',
        unit: 's',
        lines: [[selectMetric('tillbridge_replica_lag_seconds'), '{{replica}}']],
      },
      {
        title: 'Replica WAL not replayed',
        unit: 'bytes',
        lines: [[selectMetric('tillbridge_replica_lag_bytes'), '{{replica}}']],
      },
      {
        title: 'Replica reads',
        unit: 'short',
        lines: [
          [
            `sum by (replica, result) (${selectRate(selectMetric('tillbridge_replica_reads_total'))})`,
            '{{replica}} {{result}}',
          ],
          [selectMetric('tillbridge_replica_skipped'), '{{replica}} skipped'],
        ],
      },
      {
        title: 'Available databases',
        unit: 'short',
        lines: [[`min(${selectMetric('tillbridge_database_up')})`, 'control']],
      },
      {
        title: 'Available shards',
        unit: 'short',
        lines: [[`min by (shard) (${selectMetric('tillbridge_shard_up')})`, '{{shard}}']],
      },
      {
        title: 'Commits waiting for a standby',
        unit: 's',
        lines: [[`max(${selectMetric('tillbridge_commits_waiting_seconds')})`, 'oldest']],
      },
      {
        title: 'Backup age',
        unit: 's',
        lines: [
          [`time() - max by (database) (${selectMetric('tillbridge_backup_timestamp_seconds')} > 0)`, '{{database}}'],
          [`max by (database) (${selectMetric('tillbridge_backup_schedule_seconds')})`, '{{database}}: interval'],
        ],
      },
      {
        title: 'Event loop delay',
        unit: 's',
        lines: [[selectMetric('tillbridge_event_loop_delay_seconds'), 'p{{percentile}}']],
      },
      {
        title: 'Dropped log entries',
        unit: 'short',
        lines: [
          [selectMetric('tillbridge_requests_unlogged_total'), 'request log'],
          [selectMetric('tillbridge_log_lines_lost_total'), 'standard error'],
        ],
      },
      {
        title: 'Ignored errors',
        unit: 'ops',
        // The counter is exported only after the first ignored error.
        lines: [
          [
            `sum by (reason) (${selectRate(selectMetric('tillbridge_ignored_errors_total'))}) or on () vector(0)`,
            '{{reason}}',
          ],
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        lines: [
          [selectMetric('tillbridge_resident_memory_bytes'), 'server processes'],
          [selectMetric('tillbridge_client_memory_bytes'), 'clients, estimated'],
        ],
      },
      {
        title: 'Client connections',
        unit: 'short',
        lines: [
          [selectMetric('tillbridge_connections'), 'open'],
          [selectRate(selectMetric('tillbridge_connections_closed_total')), 'closed per second to limit memory'],
        ],
      },
      {
        title: 'Disk',
        unit: 'bytes',
        lines: [
          [selectMetric('tillbridge_disk_size_bytes'), 'disk'],
          [selectMetric('tillbridge_disk_free_bytes'), 'free'],
          [`max(${selectMetric('tillbridge_database_size_bytes')})`, 'database'],
        ],
      },
      {
        title: 'Missing minor releases of PostgreSQL',
        unit: 'short',
        steps: redFromOne,
        lines: [[`max by (database) (${selectMetric('tillbridge_postgres_minor_releases_behind')})`, '{{database}}']],
      },
      {
        title: 'Time until the certificate expires',
        unit: 's',
        steps: [
          { value: null, color: 'red' },
          { value: 14 * 86_400, color: 'green' },
        ],
        lines: [[`${selectMetric('tillbridge_certificate_expiry_timestamp_seconds')} - time()`, 'left']],
      },
      {
        title: 'Exported spans and log records',
        unit: 'ops',
        lines: [
          [`sum by (result) (${selectRate(selectMetric('tillbridge_spans_total'))})`, 'spans {{result}}'],
          [`sum by (result) (${selectRate(selectMetric('tillbridge_log_records_total'))})`, 'log records {{result}}'],
        ],
      },
    ],
  ],
]

const datasource = { type: 'prometheus', uid: '$datasource' }
const [panelWidth, panelHeight] = [8, 8]

const buildPanel = ({ title, unit, lines, steps }: Panel, id: number, x: number, y: number) => ({
  id,
  type: steps ? 'stat' : 'timeseries',
  title,
  datasource,
  gridPos: { x, y, w: panelWidth, h: panelHeight },
  fieldConfig: { defaults: { unit, min: 0, ...(steps && { thresholds: { mode: 'absolute', steps } }) }, overrides: [] },
  targets: lines.map(([expr, legendFormat], i) => ({
    refId: String.fromCharCode(65 + i),
    datasource,
    expr,
    legendFormat,
    ...(steps && { instant: true, range: false }),
  })),
})

/** Builds the dashboard in the JSON form that Grafana imports (schema 39: Grafana 10 and later). */
export function buildDashboard() {
  const panels: object[] = []
  let y = 0
  for (const [title, rowPanels] of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    })
    y++
    for (const [i, panel] of rowPanels.entries())
      panels.push(buildPanel(panel, panels.length + 1, (i % 3) * panelWidth, y + Math.floor(i / 3) * panelHeight))
    y += Math.ceil(rowPanels.length / 3) * panelHeight
  }
  const variable = { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' }
  return {
    uid: 'tillbridge',
    title: 'Tillbridge',
    description: 'Generated by `npm run docs` from scripts/monitoring/dashboard.ts and the metric list.',
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [variable] },
    panels,
  }
}
