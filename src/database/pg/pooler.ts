import type pg from 'pg'
import { getConnection, type PgConnection } from './internals.ts'

/** Connections to a pooler that prepares named statements on each connection that it lends. */
const preparing = new WeakSet<PgConnection>()

/** True if named statements can be used through the pooler behind this connection. */
export const canPrepare = (connection: PgConnection) => preparing.has(connection)

const probe = 'tillbridge_pooler_probe'

/**
 * Detects whether a transaction pooler keeps track of named statements, such as PgBouncer from 1.21. It prepares them under a name of its own.
 * Other poolers pass the name on to whichever connection they lend, so the statement is removed again in the same transaction.
 */
export async function detectPreparedStatements(client: pg.ClientBase) {
  await client.query('begin')
  const { rows } = await client.query<{ isPassedOn: boolean }>({
    name: probe,
    text: `select exists (select from pg_prepared_statements where name = '${probe}') as "isPassedOn"`,
  })
  if (rows[0]?.isPassedOn) await client.query(`deallocate ${probe}`)
  else preparing.add(getConnection(client))
  await client.query('commit')
}
