import assert from 'node:assert/strict'
import { join } from 'node:path'
import pg from 'pg'
import { buildDatabaseUrl } from '../../scenarios/support/standby.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'

/** Servers of their own, by their names; one that is killed stays dead until it is started again. */
export function serversIn(home: string) {
  const servers = new Map<string, Postgres>()
  return {
    /** Starts one; returns its URL, another one each time. */
    async start(name: string) {
      const settings = { fsync: 'off', max_connections: '60', shared_buffers: '16MB' }
      const postgres = await startPostgres(join(home, name), { settings, restartDelaysMs: [] })
      servers.set(name, postgres)
      return buildDatabaseUrl([postgres], postgres.connection.database)
    },
    async kill(name: string) {
      process.kill(servers.get(name)?.pid ?? 0, 'SIGKILL')
      await servers.get(name)?.ended
    },
    async ask(name: string, text: string): Promise<Record<string, unknown>[]> {
      const client = new pg.Client(servers.get(name)?.connection)
      await client.connect()
      const { rows } = await client.query(text)
      await client.end()
      return rows
    },
    stop: () => Promise.all([...servers.values()].map(server => server.stop())),
  }
}

type Servers = ReturnType<typeof serversIn>

/** Asserts that a service has rows on one server, none on the other one, and that nothing of a move is left on either. */
export async function isOnlyAt(servers: Servers, there: string, other: string, { id }: { id: number }) {
  const hasRows = async (name: string, table: string) =>
    (await servers.ask(name, `select from ${table} where service_id = ${id}`)).length > 0
  assert.deepEqual([await hasRows(there, 'service'), await hasRows(other, 'service')], [true, false])
  assert.deepEqual([await hasRows(there, 'customer'), await hasRows(other, 'customer')], [true, false])
  for (const name of [there, other])
    for (const catalog of ['pg_publication', 'pg_subscription', 'pg_replication_slots'])
      assert.deepEqual(await servers.ask(name, `select from ${catalog}`), [], `${catalog} of ${name}`)
}
