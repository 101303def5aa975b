import assert from 'node:assert/strict'
import { join } from 'node:path'
import pg from 'pg'
import { buildDatabaseUrl } from '../../scenarios/support/standby.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'

/** Manages separate PostgreSQL servers by name. A killed server stays down until it is started again. */
export function createServers(home: string) {
  const servers = new Map<string, Postgres>()
  return {
    /** Starts a server. Returns its URL, which is different each time. */
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
    async query(name: string, text: string): Promise<Record<string, unknown>[]> {
      const client = new pg.Client(servers.get(name)?.connection)
      await client.connect()
      const { rows } = await client.query(text)
      await client.end()
      return rows
    },
    stop: () => Promise.all([...servers.values()].map(server => server.stop())),
  }
}

type Servers = ReturnType<typeof createServers>

/** Asserts that a service has rows only on `server`, and that neither server has remains of a move. */
export async function assertOnlyAt(servers: Servers, server: string, otherServer: string, { id }: { id: number }) {
  const hasRows = async (name: string, table: string) =>
    (await servers.query(name, `select from ${table} where service_id = ${id}`)).length > 0
  assert.deepEqual([await hasRows(server, 'service'), await hasRows(otherServer, 'service')], [true, false])
  assert.deepEqual([await hasRows(server, 'customer'), await hasRows(otherServer, 'customer')], [true, false])
  for (const name of [server, otherServer])
    for (const catalog of ['pg_publication', 'pg_subscription', 'pg_replication_slots'])
      assert.deepEqual(await servers.query(name, `select from ${catalog}`), [], `${catalog} of ${name}`)
}
