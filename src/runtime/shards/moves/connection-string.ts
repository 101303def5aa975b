import type pg from 'pg'
import type { Config } from '../../../config/config.ts'
import type { Keys } from '../../../crypto/keys.ts'
import type { Database } from '../../../database/db.ts'
import { getClientClass } from '../../../database/pg/internals.ts'
import { findShardUrl } from '../../../store/shards/shards.ts'

/** Builds the connection string (libpq) with which another server reaches a database: its URL, or the socket of the bundled PostgreSQL. */
export async function buildConnectionString(
  config: Config,
  { control, keys }: { control: Database; keys: Keys },
  database: string | undefined,
): Promise<string> {
  const url = database === undefined ? config.databaseUrl : await findShardUrl(control, keys, database)
  if (url !== undefined)
    return url.includes(',') ? `${url}${url.includes('?') ? '&' : '?'}target_session_attrs=read-write` : url
  const Client = getClientClass(control.pool)
  const { host, port, user, password, database: dbname } = new Client(control.pool.options as pg.ClientConfig)
  return Object.entries({ host, port, user, password, dbname })
    .flatMap(([name, value]) => (value ? [`${name}='${String(value).replaceAll(/['\\]/g, '\\$&')}'`] : []))
    .join(' ')
}
