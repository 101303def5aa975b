interface Metric {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  /** Of several processes the largest counts, rather than the sum. */
  largest?: true
  /** Upper ends of a histogram's buckets, in seconds. */
  buckets?: readonly number[]
}

/** Those that OpenTelemetry's conventions ask for where HTTP is measured, and where a database is. */
const httpSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const databaseSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** Every metric that is told, by its name. docs/operate/monitor.md, the dashboard and the rules are made with it. */
export const metrics = {
  tillbridge_http_requests_total: {
    type: 'counter',
    help: 'Requests answered, by route, method and status.',
    labels: ['route', 'method', 'status'],
  },
  tillbridge_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds until an answer was sent, by route and method.',
    labels: ['route', 'method'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  tillbridge_requests_unlogged_total: {
    type: 'counter',
    help: 'Requests that the log of requests had no room for while the database was away.',
    labels: [],
  },
  tillbridge_log_lines_lost_total: {
    type: 'counter',
    help: 'Lines of the log that standard error had no room for: its disk is full, or nobody reads it.',
    labels: [],
  },
  tillbridge_ignored_errors_total: {
    type: 'counter',
    help: 'Errors that were ignored on purpose, by reason. A fast increase points to a problem that recovers automatically.',
    labels: ['reason'],
  },
  tillbridge_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'Delay of the event loop since the last look.',
    labels: ['quantile'],
    largest: true,
  },
  tillbridge_resident_memory_bytes: { type: 'gauge', help: 'Memory of the serving processes.', labels: [] },
  tillbridge_database_connections: {
    type: 'gauge',
    help: 'Connections to the database, and requests that wait for one.',
    labels: ['pool', 'state'],
  },
  tillbridge_replica_left_out: {
    type: 'gauge',
    help: '1 while a replica is not asked: it is away, too far behind, no standby, or of another primary.',
    labels: ['replica'],
    largest: true,
  },
  tillbridge_replica_lag_seconds: {
    type: 'gauge',
    help: 'Seconds that a replica is behind the primary.',
    labels: ['replica'],
    largest: true,
  },
  tillbridge_replica_lag_bytes: {
    type: 'gauge',
    help: "What a replica has not replayed of the primary's log.",
    labels: ['replica'],
    largest: true,
  },
  tillbridge_replica_reads_total: {
    type: 'counter',
    help: 'Reads that a replica was asked for, by whether it answered, had not come so far, or failed.',
    labels: ['replica', 'result'],
  },
  tillbridge_back_office_breaker_open: {
    type: 'gauge',
    help: '1 while calls of a back office are kept back.',
    labels: ['service'],
    largest: true,
  },
  tillbridge_spans_total: {
    type: 'counter',
    help: 'Spans of traces, by whether the collector took them.',
    labels: ['result'],
  },
  tillbridge_sync_lag_seconds: {
    type: 'gauge',
    help: 'Seconds since a sync was last pulled to its end.',
    labels: ['service', 'sync'],
  },
  tillbridge_sync_schedule_seconds: {
    type: 'gauge',
    help: 'Seconds between two pulls of a sync: its schedule, or how often everything is read where nothing else can be asked for.',
    labels: ['service', 'sync'],
    largest: true,
  },
  tillbridge_sync_failed: {
    type: 'gauge',
    help: '1 where the last run of a sync failed.',
    labels: ['service', 'sync'],
  },
  tillbridge_sync_records: {
    type: 'gauge',
    help: 'Records of the last run of a sync, by what became of them.',
    labels: ['service', 'sync', 'result'],
  },
  tillbridge_alerts: { type: 'gauge', help: 'Unresolved alerts.', labels: ['kind'] },
  tillbridge_mails: {
    type: 'gauge',
    help: 'E-mails that are not sent, by how far they have come: `queued`, `failed`.',
    labels: ['state'],
  },
  tillbridge_jobs: {
    type: 'gauge',
    help: 'Jobs, by what they do and how far they have come.',
    labels: ['kind', 'state'],
  },
  tillbridge_jobs_oldest_due_seconds: {
    type: 'gauge',
    help: 'Seconds for which the job has been due that nobody has taken for longest; 0: none is.',
    labels: [],
    largest: true,
  },
  tillbridge_database_size_bytes: {
    type: 'gauge',
    help: 'What the database takes on its disk, with its data databases.',
    labels: [],
  },
  tillbridge_data_database_up: {
    type: 'gauge',
    help: '1 while a data database can be worked with, as seen from the process that tells this.',
    labels: ['database'],
    largest: true,
  },
  tillbridge_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When the certificate that is served with ends, in seconds since 1970.',
    labels: [],
    largest: true,
  },
  tillbridge_disk_size_bytes: { type: 'gauge', help: 'The disk that DATA_DIR is on.', labels: [] },
  tillbridge_disk_free_bytes: { type: 'gauge', help: 'What is free of that disk.', labels: [] },
  http_server_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of HTTP server requests.',
    labels: ['http_request_method', 'http_route', 'http_response_status_code', 'url_scheme', 'error_type'],
    buckets: httpSeconds,
  },
  http_server_active_requests: {
    type: 'gauge',
    help: 'Number of active HTTP server requests.',
    labels: ['http_request_method', 'url_scheme'],
  },
  http_client_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of HTTP client requests: the calls of back offices.',
    labels: ['http_request_method', 'server_address', 'server_port', 'http_response_status_code', 'error_type'],
    buckets: httpSeconds,
  },
  db_client_operation_duration_seconds: {
    type: 'histogram',
    help: 'Duration of database client operations.',
    labels: ['db_system_name', 'db_operation_name', 'error_type'],
    buckets: databaseSeconds,
  },
  db_client_connection_count: {
    type: 'gauge',
    help: 'The number of connections that are currently in state described by the state attribute.',
    labels: ['db_client_connection_pool_name', 'db_client_connection_state'],
  },
  db_client_connection_max: {
    type: 'gauge',
    help: 'The maximum number of open connections allowed.',
    labels: ['db_client_connection_pool_name'],
  },
  db_client_connection_pending_requests: {
    type: 'gauge',
    help: 'The number of current pending requests for an open connection.',
    labels: ['db_client_connection_pool_name'],
  },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof metrics
export type LabelOf<Name extends MetricName> = (typeof metrics)[Name]['labels'][number]

/** A metric as it is in the list. */
export const getMetric = (name: MetricName): Metric => metrics[name]
