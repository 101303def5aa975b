import { createServer, type Server } from 'node:http'
import type pg from 'pg'
import type { Offices } from '../backoffice/offices.ts'
import type { Db } from '../db.ts'
import { exposition, type Sample } from '../http/metrics.ts'
import { dueJobs } from '../store/running/jobs.ts'
import { feedFigures, standings } from '../store/running/standings.ts'

const gauge = (name: string, help: string, labels: Record<string, string>, value: number, largest = false): Sample => ({
  name: `tillbridge_${name}`,
  type: 'gauge',
  help,
  labels,
  value,
  ...(largest && { largest }),
})

/** What one process holds: connections to the database, and breakers of back offices. */
export function processSamples(
  pools: Readonly<Record<string, pg.Pool>>,
  offices: Offices,
  /** Writes that wait for their turn to have a connection. */
  waitingWrites = 0,
): Sample[] {
  const connections = Object.entries(pools).flatMap(([pool, { totalCount, idleCount, waitingCount }]) =>
    Object.entries({
      busy: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount + (pool === 'writes' ? waitingWrites : 0),
    }).map(([state, value]) =>
      gauge(
        'database_connections',
        'Connections to the database, and requests that wait for one.',
        { pool, state },
        value,
      ),
    ),
  )
  const breakers = offices
    .opened()
    .flatMap(({ service, driver: { breaker } }) =>
      breaker === undefined
        ? []
        : gauge(
            'back_office_breaker_open',
            '1 while calls of a back office are kept back.',
            { service },
            breaker === 'open' ? 1 : 0,
            true,
          ),
    )
  return [...connections, ...breakers]
}

/** Milliseconds that what the database says counts: nobody can make it work by asking often. */
const knownMs = 5_000

/** What the database knows of the whole installation. */
export function databaseSamples(db: Db): () => Promise<Sample[]> {
  let known: { samples: Promise<Sample[]>; until: number } | undefined
  return () => {
    if (known && known.until > performance.now()) return known.samples
    const samples = read(db)
    known = { samples, until: performance.now() + knownMs }
    samples.catch(() => {
      known = undefined
    })
    return samples
  }
}

async function read(db: Db): Promise<Sample[]> {
  const feeds = await feedFigures(db)
  const counted = await standings(db)
  const { oldestSeconds } = await dueJobs(db)
  return [
    ...feeds.flatMap(({ service, feed, lagSeconds, isFailed, records }) => [
      ...(lagSeconds === null
        ? []
        : [
            gauge(
              'sync_lag_seconds',
              'Seconds since a feed was last pulled to its end.',
              { service, feed },
              lagSeconds,
            ),
          ]),
      gauge('sync_failed', '1 where the last run of a feed failed.', { service, feed }, isFailed ? 1 : 0),
      ...Object.entries(records).map(([result, value]) =>
        gauge(
          'sync_records',
          'Records of the last run of a feed, by what became of them.',
          { service, feed, result },
          value,
        ),
      ),
    ]),
    ...counted.map(({ what, kind, state, count }) =>
      what === 'alerts'
        ? gauge('alerts', 'Alerts that nobody has settled.', { kind }, count)
        : what === 'mails'
          ? gauge('mails', 'E-mails, by how far they have come.', { state }, count)
          : gauge('jobs', 'Jobs, by what they do and how far they have come.', { job: kind, state }, count),
    ),
    gauge(
      'jobs_oldest_due_seconds',
      'Seconds for which the job has been due that nobody has taken for longest; 0: none is.',
      {},
      oldestSeconds,
    ),
  ]
}

/** Tells the figures to whoever asks this machine for `/metrics`. */
export function listenMetrics(port: number, collect: () => Promise<Sample[]>): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics' || request.method !== 'GET')
      return void response.writeHead(404).end()
    collect().then(
      samples =>
        response
          .writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
          .end(exposition(samples)),
      () => response.writeHead(503, { 'retry-after': '5' }).end(),
    )
  })
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new Error(`Port ${port} cannot be listened on for metrics (${code}); check METRICS_PORT.`)),
    )
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
