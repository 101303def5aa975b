import { statfs } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type pg from 'pg'
import type { BackOffices } from '../backoffice/back-offices.ts'
import { defaultBackupIntervalHours, findNewestBackup } from '../backup/history.ts'
import { finishesWithin } from '../concurrency/backoff.ts'
import { memoize, perObject } from '../concurrency/ttl-cache.ts'
import type { Db } from '../database/db.ts'
import type { Replica } from '../database/replicas/replica.ts'
import { compareMinor } from '../postgres/minor-releases.ts'
import { readPushStats } from '../store/ecommerce/status.ts'
import { readJobLags } from '../store/jobs/jobs.ts'
import {
  countStates,
  readCommitWaitSeconds,
  readDatabaseBytes,
  readServerVersion,
  readSyncStats,
} from '../store/stats/sync-status.ts'
import { callDurations, databaseDurations, droppedLogs } from '../telemetry/durations.ts'
import { ignoredErrors, ignoreError } from '../telemetry/ignored-errors.ts'
import { createSample, formatExposition, type Sample } from '../telemetry/samples.ts'
import type { Shard, Shards } from './shards/shards.ts'
import { getExportCounts } from './telemetry-export.ts'

/** An open database, with the sources of its metrics. */
interface DatabaseContext {
  /** Absent: the control database. */
  name?: string
  pools?: Readonly<Record<string, pg.Pool>>
  backOffices: BackOffices
  /** Writes that wait for a connection. */
  waitingWrites?: number
  replicas?: readonly Replica[] | undefined
}

/** Metrics of every process: database connections, circuit breakers, lost log lines. */
export function collectProcessSamples(shards: readonly DatabaseContext[]): Sample[] {
  const { spans, logs } = getExportCounts()
  return [
    ...shards.flatMap(collectContextSamples),
    ...databaseDurations.samples(),
    ...callDurations.samples(),
    ...Object.entries(spans).map(([result, count]) => createSample('tillbridge_spans_total', { result }, count)),
    ...Object.entries(logs).map(([result, count]) => createSample('tillbridge_log_records_total', { result }, count)),
    createSample('tillbridge_log_lines_lost_total', {}, droppedLogs.lines),
    ...[...ignoredErrors].map(([reason, count]) => createSample('tillbridge_ignored_errors_total', { reason }, count)),
  ]
}

function collectContextSamples({
  name: database,
  pools = {},
  backOffices,
  waitingWrites = 0,
  replicas = [],
}: DatabaseContext): Sample[] {
  const connections = Object.entries(pools).flatMap(([purpose, { totalCount, idleCount, waitingCount, options }]) => {
    const pool = database === undefined ? purpose : `${database} ${purpose}`
    const [busy, waiting] = [totalCount - idleCount, waitingCount + (purpose === 'writes' ? waitingWrites : 0)]
    const name = { db_client_connection_pool_name: pool }
    return [
      ...Object.entries({ busy, idle: idleCount, waiting }).map(([state, value]) =>
        createSample('tillbridge_database_connections', { pool, state }, value),
      ),
      createSample('db_client_connection_max', name, options.max),
      createSample('db_client_connection_pending_requests', name, waiting),
    ]
  })
  return [
    ...connections,
    ...backOffices.listOpen().flatMap(collectBackOfficeSamples),
    ...replicas.flatMap(collectReplicaSamples),
  ]
}

/** Metrics of the back offices that this process has used. */
function collectBackOfficeSamples({
  service,
  driver: { breaker, syncs },
}: ReturnType<BackOffices['listOpen']>[number]): Sample[] {
  return [
    ...(breaker === undefined
      ? []
      : [createSample('tillbridge_back_office_breaker_open', { service }, breaker === 'open' ? 1 : 0)]),
    ...syncs.map(({ name: sync, intervalSeconds }) =>
      createSample('tillbridge_sync_schedule_seconds', { service, sync }, intervalSeconds),
    ),
  ]
}

function collectReplicaSamples({ name: replica, health, counts }: Replica): Sample[] {
  const { state, lag } = health
  return [
    createSample('tillbridge_replica_skipped', { replica }, state === 'ready' ? 0 : 1),
    ...(lag ? [createSample('tillbridge_replica_lag_seconds', { replica }, lag.seconds)] : []),
    ...(lag ? [createSample('tillbridge_replica_lag_bytes', { replica }, lag.bytes)] : []),
    ...Object.entries(counts).map(([result, count]) =>
      createSample('tillbridge_replica_reads_total', { replica, result }, count),
    ),
  ]
}

/** Milliseconds for which a database's samples are cached, so that frequent scrapes cost nothing. */
const samplesTtlMs = 5_000

/** Milliseconds within which a database must return its samples. Prometheus waits 10 s by default. */
const databaseTimeoutMs = 5_000

/** Returns the samples of the control database. An unavailable one must not hide the metrics of the processes. */
export function createControlCollector(db: Db, backupIntervalHours?: number): () => Promise<Sample[]> {
  const collect = createDatabaseCollector(db, 'control', backupIntervalHours)
  return () => withAvailability(collect, value => createSample('tillbridge_database_up', {}, value))
}

/** Adds 1 to the samples of a database, or returns only 0 if it doesn't return them in time. */
async function withAvailability(collect: () => Promise<Sample[]>, up: (value: number) => Sample): Promise<Sample[]> {
  const samples = await awaitWithTimeout(collect())
  return samples ? [...samples, up(1)] : [up(0)]
}

/** Returns the samples of a database's content. `name`: `control` or the shard. */
const createDatabaseCollector = (
  db: Db,
  name: string,
  backupIntervalHours: number | undefined,
): (() => Promise<Sample[]>) => memoize(() => readSamples(db, name, backupIntervalHours), samplesTtlMs)

async function readSamples(
  db: Db,
  database: string,
  backupIntervalHours = defaultBackupIntervalHours,
): Promise<Sample[]> {
  const syncs = await readSyncStats(db)
  const counted = await countStates(db)
  const jobLags = await readJobLags(db)
  const backup = await findNewestBackup(db)
  const pushes = await readPushStats(db)
  return [
    ...pushes.flatMap(({ service, due, held, lagSeconds, drift, points, throttled }) => [
      createSample('tillbridge_ecommerce_due', { service }, due),
      createSample('tillbridge_ecommerce_held', { service }, held),
      createSample('tillbridge_ecommerce_lag_seconds', { service }, lagSeconds),
      createSample('tillbridge_ecommerce_drift', { service }, drift),
      ...(points === null ? [] : [createSample('tillbridge_ecommerce_points', { service }, points)]),
      ...(throttled === null ? [] : [createSample('tillbridge_ecommerce_throttled_total', { service }, throttled)]),
    ]),
    ...syncs.flatMap(({ service, sync, lagSeconds, fullOnlyIntervalSeconds, isFailed, records }) => [
      ...(lagSeconds === null ? [] : [createSample('tillbridge_sync_lag_seconds', { service, sync }, lagSeconds)]),
      ...(fullOnlyIntervalSeconds === null
        ? []
        : [createSample('tillbridge_sync_schedule_seconds', { service, sync }, fullOnlyIntervalSeconds)]),
      createSample('tillbridge_sync_failed', { service, sync }, isFailed ? 1 : 0),
      ...Object.entries(records).map(([result, value]) =>
        createSample('tillbridge_sync_records', { service, sync, result }, value),
      ),
    ]),
    ...counted.map(({ entity, kind, state, count }) =>
      entity === 'alerts'
        ? createSample('tillbridge_alerts', { kind }, count)
        : entity === 'mails'
          ? createSample('tillbridge_emails', { state }, count)
          : createSample('tillbridge_jobs', { kind, state }, count),
    ),
    ...jobLags.map(({ name: kind, oldestSeconds }) =>
      createSample('tillbridge_jobs_oldest_due_seconds', { kind }, oldestSeconds),
    ),
    createSample('tillbridge_commits_waiting_seconds', {}, await readCommitWaitSeconds(db)),
    createSample('tillbridge_backup_timestamp_seconds', { database }, backup ? backup.at.getTime() / 1_000 : 0),
    createSample('tillbridge_backup_schedule_seconds', { database }, backupIntervalHours * 3_600),
    createSample('tillbridge_database_size_bytes', {}, await readDatabaseBytes(db)),
    createSample(
      'tillbridge_postgres_minor_releases_behind',
      { database },
      compareMinor(await readServerVersion(db)).behind,
    ),
  ]
}

/** Metrics of each shard, and whether it is available. While the control database is unavailable: of the open shards. */
export function createShardCollector(shards: Shards, backupIntervalHours?: number): () => Promise<Sample[]> {
  const getCollector = perObject((shard: Shard) => createDatabaseCollector(shard.db, shard.name, backupIntervalHours))
  const sampleEach = async (names: readonly string[], open: (name: string) => Shard | Promise<Shard>) => {
    const results = names.map(name =>
      withAvailability(
        async () => getCollector(await open(name))(),
        value => createSample('tillbridge_shard_up', { shard: name }, value),
      ),
    )
    return (await Promise.all(results)).flat()
  }
  return async () => {
    const names = await awaitWithTimeout(shards.names())
    if (names) return sampleEach(names, shards.open)
    const open = new Map(shards.opened().map(shard => [shard.name, shard]))
    return sampleEach([...open.keys()], name => open.get(name) as Shard)
  }
}

/** Returns undefined if the database fails or doesn't respond in time. */
async function awaitWithTimeout<T>(result: Promise<T>): Promise<T | undefined> {
  const collected = ignoreError(result, 'database returned no metrics')
  return (await finishesWithin(collected, databaseTimeoutMs)) ? collected : undefined
}

/** Returns size and free space of the disk of a directory. */
export async function collectDiskSamples(directory: string): Promise<Sample[]> {
  const disk = await ignoreError(statfs(directory), 'disk size unreadable')
  if (!disk) return []
  return [
    createSample('tillbridge_disk_size_bytes', {}, disk.blocks * disk.bsize),
    createSample('tillbridge_disk_free_bytes', {}, disk.bavail * disk.bsize),
  ]
}

/** Serves `/metrics`. */
export function listenMetrics(port: number, host: string, collect: () => Promise<Sample[]>): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics' || request.method !== 'GET')
      return void response.writeHead(404).end()
    collect().then(
      samples =>
        response
          .writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
          .end(formatExposition(samples)),
      () => response.writeHead(503, { 'retry-after': '5' }).end(),
    )
  })
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(
        new Error(
          code === 'EADDRINUSE'
            ? `Port ${port} of ${host} is in use by another program. Set METRICS_PORT to a free port.`
            : `Port ${port} of ${host} can't be opened for metrics (${code}). Check METRICS_HOST and METRICS_PORT.`,
        ),
      ),
    )
    server.listen(port, host, () => resolve(server))
  })
}
