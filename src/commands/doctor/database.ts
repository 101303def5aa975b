import { sql } from '../../database/db.ts'
import { findPendingMigrations } from '../../database/migrate.ts'
import type { OpenedDatabase } from '../../runtime/installation/connect.ts'
import { requireOneServer } from '../../runtime/installation/require-one-server.ts'
import { listAlerts } from '../../store/alerts/alerts.ts'
import { readJobLag } from '../../store/jobs/jobs.ts'

/** Throws if a migration is missing. Doctor never migrates: a running older release couldn't start again after that. */
export async function requireMigrated({ db }: Pick<OpenedDatabase, 'db'>) {
  const missing = await findPendingMigrations(db)
  if (!missing.length) return
  const remedy = 'Run "tillbridge start" or "tillbridge migrate".'
  throw new Error(
    missing[0]?.startsWith('0001')
      ? `The database has no tables yet. ${remedy}`
      : `Migrations are missing: ${missing.join(', ')}. ${remedy} Older releases can't use the database after that.`,
  )
}

export async function describeDatabase({ db }: Pick<OpenedDatabase, 'db'>) {
  await requireOneServer(db)
  const row = await db.row<{ version: string; name: string; migrations: number }>(sql`
    select current_setting('server_version') as version, current_database() as name, (select count(*)::integer from migration) as migrations`)
  return `PostgreSQL ${row?.version}, ${row?.name}, ${row?.migrations} migrations`
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
