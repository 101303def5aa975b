import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { openDatabase, sql } from '../../src/database/db.ts'
import { compareCustomers, startCustomerWriters, waitForNextCustomer } from '../support/actors/customer-writers.ts'
import { createPrimary, createStandby, debianPostgresMissing } from '../support/debian-postgres.ts'
import { check } from '../support/expectations/check.ts'
import { findFreePort } from '../support/free-port.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { report } from '../support/report.ts'

const { clients, seconds, pause, asynchronous, behind, keep } = new Command('npm run scenario -- failover')
  .description(
    "Kills the primary (Debian's PostgreSQL, kill -9) while clients create customers through two processes whose DATABASE_URL names the primary\nand its synchronous standby, and promotes the standby. Checks that writes resume automatically, and that nothing acknowledged is lost or\nstored twice.",
  )
  .option('--clients <number>', 'number of clients that create customers', parseInteger, 16)
  .option('--seconds <number>', 'duration of the load before and after the kill', parseInteger, 10)
  .option('--pause <milliseconds>', 'pause of a client after each customer', parseInteger, 5)
  .option('--asynchronous', "the primary doesn't wait for its standby; shows how much is lost")
  .option(
    '--behind <milliseconds>',
    'with --asynchronous: how long before the kill the standby receives nothing',
    parseInteger,
    200,
  )
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- failover\n  npm run scenario -- failover --clients 3 --seconds 1\n  npm run scenario -- failover --asynchronous\n',
  )
  .parse()
  .opts<{ clients: number; seconds: number; pause: number; asynchronous?: boolean; behind: number; keep?: boolean }>()

if (debianPostgresMissing) throw new Error(debianPostgresMissing)
const home = mkdtempSync(join(tmpdir(), 'tillbridge-failover-'))
await chmod(home, 0o711)
const primaryLocation = { home: join(home, 'one'), port: await findFreePort() }
const standbyLocation = { home: join(home, 'two'), port: await findFreePort() }
const primary = createPrimary(primaryLocation)
/** Run in reverse order at the end. */
const cleanups: (() => unknown)[] = [() => rm(home, { recursive: true, force: true })]
let isKilled = false
let isOver = false

try {
  primary.start()
  cleanups.push(() => isKilled || primary.stop())
  const standby = createStandby(standbyLocation, primaryLocation, 'standby')
  standby.start()
  cleanups.push(() => standby.stop())
  const url = `postgres://tillbridge@127.0.0.1:${primaryLocation.port},127.0.0.1:${standbyLocation.port}/postgres`

  /** Makes the primary wait for the standby at each commit. */
  async function makeSynchronous() {
    const db = openDatabase(url, { max: 1 })
    try {
      await db.pool.query(`alter system set synchronous_standby_names = 'standby'`)
      await db.pool.query('select pg_reload_conf()')
      for (const startedAt = performance.now(); ; await delay(100)) {
        if (await db.row(sql`select from pg_stat_replication where sync_state = 'sync'`)) return
        if (performance.now() - startedAt > 60_000)
          throw new Error('the standby did not become synchronous within 60 s')
      }
    } finally {
      await db.close()
    }
  }

  if (!asynchronous) await makeSynchronous()
  // The servers are stopped by the cleanups.
  const installation = await openInstallation({ apis: 2, database: { url, stop: async () => {} } })
  cleanups.push(() => installation.close())
  const { db, credentials, apis } = installation
  const api = openClient(apis, credentials, randomFor('failover'), { timeoutMs: 40_000 })
  const acknowledged: string[] = []
  const { statuses, ended } = startCustomerWriters(api, acknowledged, { clients, pauseMs: pause, isOver: () => isOver })
  await waitForNextCustomer(acknowledged, 90_000)
  await delay(seconds * 1_000)
  let lagBytes = 0
  if (asynchronous) {
    // As on a slow network: the primary has WAL that its standby doesn't have yet.
    primary.stopSendingWal()
    await delay(behind)
    const lag = await db.row<{ bytes: number }>(sql`
      select pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 as bytes from pg_stat_replication`)
    lagBytes = lag?.bytes ?? 0
  }
  const createdBefore = acknowledged.length
  const killedAt = performance.now()
  primary.kill()
  isKilled = true
  await delay(500)
  standby.promote()
  const promotedAt = performance.now()
  await waitForNextCustomer(acknowledged, 90_000)
  const resumedAt = performance.now()
  await delay(seconds * 1_000)
  isOver = true
  await ended
  const { lost, duplicates, unexpected } = await compareCustomers(db, acknowledged)
  report(asynchronous ? 'failover-asynchronous' : 'failover', {
    keep,
    command: asynchronous ? 'failover --asynchronous' : 'failover',
    measurements: [
      ['clients', clients],
      ['customers created before and after', `${createdBefore}, ${acknowledged.length - createdBefore}`],
      ...[...statuses].sort().map(([status, count]) => [`responses ${status}`, count] as const),
      ['from the kill to the first write, s', ((resumedAt - killedAt) / 1_000).toFixed(1)],
      ['from the promotion to the first write, s', ((resumedAt - promotedAt) / 1_000).toFixed(1)],
      ...(asynchronous
        ? [
            ['the standby received nothing before the kill for, ms', behind] as const,
            ['replication lag that the primary reported, KB', Math.round(lagBytes / 1_024)] as const,
          ]
        : []),
      ['acknowledged and lost', lost.length],
    ],
    checks: [
      asynchronous
        ? check('if something is lost, the primary had reported a replication lag', lagBytes > 0 ? [] : lost)
        : check('every acknowledged customer is stored', lost, acknowledged.length),
      check('no customer is stored twice', duplicates ? [`${duplicates}`] : []),
      check('no customer is stored without acknowledgement', unexpected),
      check(
        'every response is 201, 503 or 504',
        [...statuses.keys()].filter(status => !['201', '503', '504'].includes(status)),
        statuses.size,
      ),
      check(
        'writes resume automatically within 30 s',
        resumedAt - killedAt > 30_000 ? [`${(resumedAt - killedAt) / 1_000} s`] : [],
      ),
    ],
  })
} finally {
  isOver = true
  for (const cleanup of cleanups.toReversed()) await cleanup()
}
