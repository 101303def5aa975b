import type { Config } from '../../config/config.ts'
import { sql } from '../../database/db.ts'
import { findPendingMigrations, listMigrationFiles } from '../../database/migrate.ts'
import { chooseBinaries } from '../../postgres/binaries.ts'
import { compareMinor, updatedOn } from '../../postgres/minor-releases.ts'
import type { OpenedDatabase } from '../../runtime/installation/connect.ts'
import { requireOneServer } from '../../runtime/installation/require-one-server.ts'
import { listAlerts } from '../../store/alerts/alerts.ts'
import { readJobLag } from '../../store/jobs/jobs.ts'
import { readServerVersion } from '../../store/stats/sync-status.ts'

/** A problem that does not fail the check. */
export class Warning extends Error {}

/** Throws if a migration is missing. Doctor never migrates, because an operator decides when an older release is replaced. */
export async function requireMigrated({ db }: Pick<OpenedDatabase, 'db'>) {
  const missing = await findPendingMigrations(db)
  if (!missing.length) return
  const remedy = 'Run "tillbridge start" or "tillbridge migrate".'
  throw new Error(
    missing[0]?.startsWith('0001')
      ? `The database has no tables yet. ${remedy}`
      : `Migrations are missing: ${missing.join(', ')}. ${remedy} Only the previous release can still use the database after that.`,
  )
}

/** `config`: absent for a shard, which has its own server. */
export async function describeDatabase({ db }: Pick<OpenedDatabase, 'db'>, config?: Config) {
  await requireOneServer(db)
  const row = await db.row<{ version: string; name: string; migrations: number }>(sql`
    select current_setting('server_version') as version, current_database() as name, (select count(*)::integer from migration) as migrations`)
  const newer = Number(row?.migrations) - (await listMigrationFiles()).length
  const origin = newer > 0 ? ` (${newer} of a newer release)` : ''
  const use = config && runsBundled(config, String(row?.version)) ? ', bundled: for evaluation only' : ''
  return `PostgreSQL ${row?.version}, ${row?.name}, ${row?.migrations} migrations${origin}${use}`
}

const runsBundled = ({ databaseUrl, postgresBinDir }: Config, version: string) =>
  databaseUrl === undefined && chooseBinaries(postgresBinDir, version.split('.')[0]).source === 'bundled'

/** Compares PostgreSQL with the newest known minor release. Throws a warning if it is older. */
export async function checkMinorRelease({ db }: Pick<OpenedDatabase, 'db'>) {
  const { version, newest, behind } = compareMinor(await readServerVersion(db))
  if (behind)
    throw new Warning(
      `${version} lacks security fixes of ${newest}, the newest known on ${updatedOn}. Update PostgreSQL.`,
    )
  return `${version} is the newest minor release known on ${updatedOn}`
}

export async function checkJobs({ db }: Pick<OpenedDatabase, 'db'>) {
  const { oldestSeconds, isIdle } = await readJobLag(db)
  const oldest = `the oldest has been due for ${Math.floor(oldestSeconds)} s`
  if (isIdle)
    throw new Error(
      `No process runs jobs, and ${oldest}. Emails wait and no sync runs. Start with RUN_JOBS=true, or run: tillbridge worker`,
    )
  return oldestSeconds ? oldest : 'no job is due'
}

export async function checkAlerts({ db }: Pick<OpenedDatabase, 'db'>) {
  const open = await listAlerts(db)
  if (!open.length) return 'none'
  const kinds = new Set(open.map(({ service, kind }) => `${service}: ${kind}`))
  throw new Error(`${[...kinds].join(', ')}. Run "tillbridge alert list".`)
}
