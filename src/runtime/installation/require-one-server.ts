import { type Database, sql } from '../../database/db.ts'

/** A number that no service has until 32,766 services exist. */
const unusedServiceId = 32_767

/**
 * Throws if a change that one connection announces is not visible on another connection (contributing/decisions/0002-commit-watermark.md). This
 * happens if a proxy or an extension spreads statements over several servers. Lists would then lose changes without an error.
 */
export async function requireOneServer(db: Database) {
  const extension = await db.row(sql`select from pg_extension where extname = 'citus'`)
  if (extension)
    throw new Error(
      'The database has the extension citus, which spreads tables over servers, so lists would lose changes. DATABASE_URL must name a database without it.',
    )
  await db.transaction(async tx => {
    const writerLock = await tx.row<{ at: string }>(sql`select take_writer_lock(${unusedServiceId})::text as at`)
    const seen = await db.row<{ meets: boolean }>(
      sql`select (commit_watermarks(${unusedServiceId}))[1] < ${writerLock?.at}::timestamptz as meets`,
    )
    if (!seen?.meets)
      throw new Error(
        'A lock of one database connection is not visible on another one. A proxy spreads the connections over several servers, so lists would lose changes. DATABASE_URL must name one server.',
      )
  })
}
