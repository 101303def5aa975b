import type { MetricName } from '../../src/telemetry/metric-list.ts'
import { bucketsOf, countOf, of } from './promql.ts'

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
const requests = 'http_server_request_duration_seconds'
const rate = (expr: string) => `rate(${expr}[${range}])`
const quantiles = (name: MetricName): Line[] =>
  [0.5, 0.95, 0.99].map(share => [
    `histogram_quantile(${share}, sum by (le) (${rate(bucketsOf(name))}))`,
    `p${share * 100}`,
  ])

const bestNone = [{ value: null, color: 'green' } as const, { value: 1, color: 'red' } as const]

/** The rows of the dashboard, from the API down to the infrastructure. */
const rows: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'Requests',
    [
      {
        title: 'Requests by status',
        unit: 'reqps',
        lines: [[`sum by (http_response_status_code) (${rate(countOf(requests))})`, '{{http_response_status_code}}']],
      },
      { title: 'Duration', unit: 's', lines: quantiles(requests) },
      {
        title: 'Error rate (5xx)',
        unit: 'percentunit',
        lines: [
          [
            `sum(${rate(countOf(requests, { http_response_status_code: '=~"5.."' }))}) / sum(${rate(countOf(requests))})`,
            'failed',
          ],
        ],
      },
      {
        title: 'Errors by code',
        unit: 'reqps',
        lines: [[`sum by (error_type) (${rate(countOf(requests, { error_type: '!=""' }))})`, '{{error_type}}']],
      },
      {
        title: 'Slowest routes (p99)',
        unit: 's',
        lines: [
          [
            `topk(10, histogram_quantile(0.99, sum by (le, http_route) (${rate(bucketsOf(requests))})))`,
            '{{http_route}}',
          ],
        ],
      },
      { title: 'In flight', unit: 'short', lines: [[`sum(${of('http_server_active_requests')})`, 'requests']] },
    ],
  ],
  [
    'Syncs and back offices',
    [
      {
        title: 'Sync age',
        unit: 's',
        lines: [[`max by (service, sync) (${of('tillbridge_sync_lag_seconds')})`, '{{service}} {{sync}}']],
      },
      {
        title: 'Sync intervals',
        unit: 's',
        lines: [[`max by (service, sync) (${of('tillbridge_sync_schedule_seconds')})`, '{{service}} {{sync}}']],
      },
      {
        title: 'Failing syncs',
        unit: 'short',
        lines: [[`sum by (service) (max by (service, sync) (${of('tillbridge_sync_failed')}))`, '{{service}}']],
      },
      {
        title: 'E-commerce levels',
        unit: 'short',
        lines: [
          [`max by (service) (${of('tillbridge_ecommerce_due')})`, '{{service}} due'],
          [`max by (service) (${of('tillbridge_ecommerce_held')})`, '{{service}} held'],
          [`max by (service) (${of('tillbridge_ecommerce_drift')})`, '{{service}} drift'],
        ],
      },
      {
        title: 'E-commerce push lag',
        unit: 's',
        lines: [[`max by (service) (${of('tillbridge_ecommerce_lag_seconds')})`, '{{service}}']],
      },
      {
        title: 'Throttled e-commerce calls',
        unit: 'short',
        lines: [[`sum by (service) (${rate(of('tillbridge_ecommerce_throttled_total'))})`, '{{service}}']],
      },
      {
        title: 'E-commerce points',
        unit: 'short',
        lines: [[`max by (service) (${of('tillbridge_ecommerce_points')})`, '{{service}}']],
      },
      {
        title: 'Records in the last run',
        unit: 'short',
        lines: [
          [
            `sum by (sync, result) (max by (service, sync, result) (${of('tillbridge_sync_records')}))`,
            '{{sync}} {{result}}',
          ],
        ],
      },
      {
        title: 'Open circuit breakers',
        unit: 'short',
        steps: bestNone,
        lines: [[`sum(${of('tillbridge_back_office_breaker_open')})`, 'open']],
      },
      { title: 'Back-office call duration', unit: 's', lines: quantiles('http_client_request_duration_seconds') },
      {
        title: 'Failed back-office calls',
        unit: 'reqps',
        lines: [
          [
            `sum by (server_address, error_type) (${rate(countOf('http_client_request_duration_seconds', { error_type: '!=""' }))})`,
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
        lines: [[`max by (kind, state) (${of('tillbridge_jobs')})`, '{{kind}} {{state}}']],
      },
      {
        title: 'Oldest waiting job',
        unit: 's',
        lines: [[`max by (kind) (${of('tillbridge_jobs_oldest_due_seconds')})`, '{{kind}}']],
      },
      { title: 'Emails', unit: 'short', lines: [[`max by (state) (${of('tillbridge_emails')})`, '{{state}}']] },
      {
        title: 'Alerts',
        unit: 'short',
        steps: bestNone,
        lines: [[`max by (kind) (${of('tillbridge_alerts')})`, '{{kind}}']],
      },
    ],
  ],
  [
    'Infrastructure',
    [
      { title: 'SQL statement duration', unit: 's', lines: quantiles('db_client_operation_duration_seconds') },
      {
        title: 'Database connections',
        unit: 'short',
        lines: [
          [
            `sum by (pool, state) (${of('tillbridge_database_connections', { state: '!="waiting"' })})`,
            '{{pool}} {{state}}',
          ],
          [`sum(${of('db_client_connection_pending_requests')})`, 'waiting requests'],
          [`sum(${of('db_client_connection_max')})`, 'maximum'],
        ],
      },
      {
        title: 'Replica lag',
        unit: 's',
        lines: [[of('tillbridge_replica_lag_seconds'), '{{replica}}']],
      },
      {
        title: 'Replica WAL not replayed',
        unit: 'bytes',
        lines: [[of('tillbridge_replica_lag_bytes'), '{{replica}}']],
      },
      {
        title: 'Replica reads',
        unit: 'short',
        lines: [
          [`sum by (replica, result) (${rate(of('tillbridge_replica_reads_total'))})`, '{{replica}} {{result}}'],
          [of('tillbridge_replica_skipped'), '{{replica}} skipped'],
        ],
      },
      {
        title: 'Available databases',
        unit: 'short',
        lines: [[`min(${of('tillbridge_database_up')})`, 'control']],
      },
      {
        title: 'Available shards',
        unit: 'short',
        lines: [[`min by (shard) (${of('tillbridge_shard_up')})`, '{{shard}}']],
      },
      {
        title: 'Commits waiting for a standby',
        unit: 's',
        lines: [[`max(${of('tillbridge_commits_waiting_seconds')})`, 'oldest']],
      },
      {
        title: 'Backup age',
        unit: 's',
        lines: [
          [`time() - max by (database) (${of('tillbridge_backup_timestamp_seconds')} > 0)`, '{{database}}'],
          [`max by (database) (${of('tillbridge_backup_schedule_seconds')})`, '{{database}}: interval'],
        ],
      },
      {
        title: 'Event loop delay',
        unit: 's',
        lines: [[of('tillbridge_event_loop_delay_seconds'), 'p{{percentile}}']],
      },
      {
        title: 'Dropped log entries',
        unit: 'short',
        lines: [
          [of('tillbridge_requests_unlogged_total'), 'request log'],
          [of('tillbridge_log_lines_lost_total'), 'standard error'],
        ],
      },
      {
        title: 'Ignored errors',
        unit: 'ops',
        // The counter is exported only after the first ignored error.
        lines: [[`sum by (reason) (${rate(of('tillbridge_ignored_errors_total'))}) or on () vector(0)`, '{{reason}}']],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        lines: [
          [of('tillbridge_resident_memory_bytes'), 'server processes'],
          [of('tillbridge_client_memory_bytes'), 'clients, estimated'],
        ],
      },
      {
        title: 'Client connections',
        unit: 'short',
        lines: [
          [of('tillbridge_connections'), 'open'],
          [rate(of('tillbridge_connections_closed_total')), 'closed per second to limit memory'],
        ],
      },
      {
        title: 'Disk',
        unit: 'bytes',
        lines: [
          [of('tillbridge_disk_size_bytes'), 'disk'],
          [of('tillbridge_disk_free_bytes'), 'free'],
          [`max(${of('tillbridge_database_size_bytes')})`, 'database'],
        ],
      },
      {
        title: 'Missing minor releases of PostgreSQL',
        unit: 'short',
        steps: bestNone,
        lines: [[`max by (database) (${of('tillbridge_postgres_minor_releases_behind')})`, '{{database}}']],
      },
      {
        title: 'Time until the certificate expires',
        unit: 's',
        steps: [
          { value: null, color: 'red' },
          { value: 14 * 86_400, color: 'green' },
        ],
        lines: [[`${of('tillbridge_certificate_expiry_timestamp_seconds')} - time()`, 'left']],
      },
      {
        title: 'Exported spans and log records',
        unit: 'ops',
        lines: [
          [`sum by (result) (${rate(of('tillbridge_spans_total'))})`, 'spans {{result}}'],
          [`sum by (result) (${rate(of('tillbridge_log_records_total'))})`, 'log records {{result}}'],
        ],
      },
    ],
  ],
]

const datasource = { type: 'prometheus', uid: '$datasource' }
const [wide, high] = [8, 8]

const panelOf = ({ title, unit, lines, steps }: Panel, id: number, x: number, y: number) => ({
  id,
  type: steps ? 'stat' : 'timeseries',
  title,
  datasource,
  gridPos: { x, y, w: wide, h: high },
  fieldConfig: { defaults: { unit, min: 0, ...(steps && { thresholds: { mode: 'absolute', steps } }) }, overrides: [] },
  targets: lines.map(([expr, legendFormat], i) => ({
    refId: String.fromCharCode(65 + i),
    datasource,
    expr,
    legendFormat,
    ...(steps && { instant: true, range: false }),
  })),
})

/** The dashboard as Grafana imports it (schema 39: Grafana 10 and later). */
export function dashboard() {
  const panels: object[] = []
  let y = 0
  for (const [title, inside] of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    })
    y++
    for (const [i, panel] of inside.entries())
      panels.push(panelOf(panel, panels.length + 1, (i % 3) * wide, y + Math.floor(i / 3) * high))
    y += Math.ceil(inside.length / 3) * high
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
