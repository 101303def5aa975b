interface Metric {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  /** True if several processes are merged by their maximum instead of their sum. */
  largest?: true
  /** The upper bounds of a histogram's buckets, in seconds. */
  buckets?: readonly number[]
}

/** The buckets of OpenTelemetry's semantic conventions for HTTP and for databases, in seconds. */
const httpSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const databaseSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** Every metric by name. docs/operate/monitor.md, the dashboard and the alert rules are generated from this list. */
export const metrics = {
  tillbridge_http_requests_total: {
    type: 'counter',
    help: 'Requests by route, method and status; by service if `METRICS_MAX_SERVICES` is set.',
    labels: ['route', 'method', 'status', 'service'],
  },
  tillbridge_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds until the response was sent, by route and method; by service if `METRICS_MAX_SERVICES` is set.',
    labels: ['route', 'method', 'service'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  tillbridge_requests_unlogged_total: {
    type: 'counter',
    help: 'Requests that were dropped from the request log while the database was unavailable.',
    labels: [],
  },
  tillbridge_log_lines_lost_total: {
    type: 'counter',
    help: 'Log lines that were dropped because standard error did not accept them, for example because its disk is full.',
    labels: [],
  },
  tillbridge_ignored_errors_total: {
    type: 'counter',
    help: 'Errors that were ignored on purpose, by reason. A fast increase points to a problem that recovers automatically.',
    labels: ['reason'],
  },
  tillbridge_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'Delay of the event loop since the last scrape.',
    labels: ['percentile'],
    largest: true,
  },
  tillbridge_resident_memory_bytes: { type: 'gauge', help: 'Resident memory of the server processes.', labels: [] },
  tillbridge_connections: { type: 'gauge', help: 'Open connections of clients.', labels: [] },
  tillbridge_client_memory_bytes: {
    type: 'gauge',
    help: 'Estimated memory of connections, open requests and unread responses. Its limit is 40 % of `MAX_MEMORY_MIB`.',
    labels: [],
  },
  tillbridge_connections_closed_total: {
    type: 'counter',
    help: 'Connections closed to limit memory, because their clients read too slowly.',
    labels: [],
  },
  tillbridge_database_connections: {
    type: 'gauge',
    help: 'Database connections by state, and requests that wait for one.',
    labels: ['pool', 'state'],
  },
  tillbridge_replica_skipped: {
    type: 'gauge',
    help: '1 while a replica is not used: it is unreachable, too far behind, not a standby, or has another primary.',
    labels: ['replica'],
    largest: true,
  },
  tillbridge_replica_lag_seconds: {
    type: 'gauge',
    help: 'Replication lag in seconds.',
    labels: ['replica'],
    largest: true,
  },
  tillbridge_replica_lag_bytes: {
    type: 'gauge',
    help: 'WAL bytes that a replica has not replayed.',
    labels: ['replica'],
    largest: true,
  },
  tillbridge_replica_reads_total: {
    type: 'counter',
    help: 'Reads sent to a replica, by result: served, not replayed far enough, or failed.',
    labels: ['replica', 'result'],
  },
  tillbridge_back_office_breaker_open: {
    type: 'gauge',
    help: '1 while the circuit breaker of a back office is open.',
    labels: ['service'],
    largest: true,
  },
  tillbridge_spans_total: {
    type: 'counter',
    help: 'Trace spans by result of their export.',
    labels: ['result'],
  },
  tillbridge_log_records_total: {
    type: 'counter',
    help: 'Log records by result of their export. Standard error has the log lines too.',
    labels: ['result'],
  },
  tillbridge_sync_lag_seconds: {
    type: 'gauge',
    help: 'Seconds since the last successful run of a sync.',
    labels: ['service', 'sync'],
  },
  tillbridge_sync_schedule_seconds: {
    type: 'gauge',
    help: 'The interval of a sync in seconds: its schedule, or the full-sync interval if it supports only full syncs.',
    labels: ['service', 'sync'],
    largest: true,
  },
  tillbridge_sync_failed: {
    type: 'gauge',
    help: '1 if the last run of a sync failed.',
    labels: ['service', 'sync'],
  },
  tillbridge_sync_records: {
    type: 'gauge',
    help: 'Records of the last run of a sync, by result.',
    labels: ['service', 'sync', 'result'],
  },
  tillbridge_ecommerce_due: {
    type: 'gauge',
    help: 'Levels of stock that must be pushed to the e-commerce platform.',
    labels: ['service'],
  },
  tillbridge_ecommerce_held: {
    type: 'gauge',
    help: 'Levels of stock that are not pushed.',
    labels: ['service'],
  },
  tillbridge_ecommerce_lag_seconds: {
    type: 'gauge',
    help: 'Seconds for which the oldest level has been due.',
    labels: ['service'],
  },
  tillbridge_ecommerce_points: {
    type: 'gauge',
    help: 'Points of the rate limit of the e-commerce platform.',
    labels: ['service'],
  },
  tillbridge_ecommerce_throttled_total: {
    type: 'counter',
    help: 'Calls that the e-commerce platform throttled.',
    labels: ['service'],
  },
  tillbridge_ecommerce_drift: {
    type: 'gauge',
    help: 'Levels that others had changed, by the last reconciliation.',
    labels: ['service'],
  },
  tillbridge_alerts: { type: 'gauge', help: 'Unresolved alerts.', labels: ['kind'] },
  tillbridge_emails: {
    type: 'gauge',
    help: 'Emails that are not sent, by state: `queued`, `failed`.',
    labels: ['state'],
  },
  tillbridge_jobs: {
    type: 'gauge',
    help: 'Jobs by name and state.',
    labels: ['kind', 'state'],
  },
  tillbridge_jobs_oldest_due_seconds: {
    type: 'gauge',
    help: 'Seconds for which the oldest due job of a name has been waiting. 0 if none is due.',
    labels: ['kind'],
    largest: true,
  },
  tillbridge_commits_waiting_seconds: {
    type: 'gauge',
    help: 'Seconds for which the oldest commit has been waiting for a synchronous standby. 0 if none is waiting.',
    labels: [],
    largest: true,
  },
  tillbridge_backup_timestamp_seconds: {
    type: 'gauge',
    help: 'Time of the newest backup of `control` or of a shard, in seconds since 1970. 0 without a backup.',
    labels: ['database'],
    largest: true,
  },
  tillbridge_backup_schedule_seconds: {
    type: 'gauge',
    help: 'Seconds between two backups: `BACKUP_INTERVAL_HOURS`, or a day if Tillbridge schedules none.',
    labels: ['database'],
    largest: true,
  },
  tillbridge_postgres_minor_releases_behind: {
    type: 'gauge',
    help: 'Minor releases of PostgreSQL that the server of `control` or of a shard lacks, of those known when Tillbridge was released.',
    labels: ['database'],
    largest: true,
  },
  tillbridge_database_up: {
    type: 'gauge',
    help: '1 while the control database is available to this process.',
    labels: [],
    largest: true,
  },
  tillbridge_database_size_bytes: {
    type: 'gauge',
    help: 'Disk space of the database and its shards.',
    labels: [],
  },
  tillbridge_shard_up: {
    type: 'gauge',
    help: '1 while a shard is available to this process.',
    labels: ['shard'],
    largest: true,
  },
  tillbridge_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'Expiry of the server certificate, in seconds since 1970.',
    labels: [],
    largest: true,
  },
  tillbridge_disk_size_bytes: { type: 'gauge', help: 'Size of the disk of DATA_DIR.', labels: [] },
  tillbridge_disk_free_bytes: { type: 'gauge', help: 'Free space on the disk of DATA_DIR.', labels: [] },
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
    help: 'Duration of HTTP client requests: the calls to back offices.',
    labels: ['http_request_method', 'server_address', 'server_port', 'http_response_status_code', 'error_type'],
    buckets: httpSeconds,
  },
  db_client_operation_duration_seconds: {
    type: 'histogram',
    help: 'Duration of database client operations.',
    labels: ['db_system_name', 'db_operation_name', 'error_type'],
    buckets: databaseSeconds,
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
