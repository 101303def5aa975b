import { createHash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import manifest from '../../package.json' with { type: 'json' }
import type { Database } from '../database/db.ts'
import { openDedicatedConnection } from '../database/dedicated-connection.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { accountTables } from '../store/shards/control-tables.ts'
import { encodeFrame, type Head, type Progress } from './frames.ts'
import { buildRowFilter, listTables, readSequences, type Table } from './tables.ts'

interface BackupOptions {
  /** Only this service's rows. */
  service?: Service | undefined
  /** The control database, which has the accounts. Default: the backed-up database. */
  control?: Database
  onProgress?: Progress
}

/** Doesn't block any writer. */
const snapshot = 'begin isolation level repeatable read, read only'

/**
 * Yields the frames of a backup: every row of one snapshot. The accounts of a shard come from a snapshot of the control database. Encrypted
 * values stay encrypted.
 */
export async function* createBackup(
  db: Database,
  { service, control = db, onProgress = () => {} }: BackupOptions,
): AsyncGenerator<Buffer> {
  const main = await openDedicatedConnection(db, snapshot)
  const { client } = main
  let accounts = main
  try {
    if (control !== db) accounts = await openDedicatedConnection(control, snapshot)
    const head = await readHead(client, service)
    yield encodeFrame('H', head)
    const tables = await listTables(client)
    // Locked until the end, so that no day of the request log is dropped.
    await client.query(`lock table ${tables.map(({ name }) => name).join(', ')} in access share mode`)
    const size = tables.reduce((sum, table) => sum + table.bytes, 0)
    let bytes = 0
    const copied = []
    for (const table of tables) {
      yield encodeFrame('T', { name: table.name, columns: table.columns })
      const hash = createHash('sha256')
      const from = accountTables.includes(table.name) ? accounts : main
      const copy = from.client.query(copyTo(buildCopyStatement(table, service)))
      for await (const chunk of copy) {
        hash.update(chunk)
        bytes += chunk.length
        // The size of a single service is unknown in advance.
        onProgress({ bytes, ...(!service && { size: Math.max(size, bytes) }) })
        yield encodeFrame('D', chunk)
      }
      copied.push({ copy, name: table.name, sha256: hash.digest('hex') })
    }
    // Sequences may be ahead of the snapshot, which only skips numbers.
    const sequences = await readSequences(client)
    for (const source of new Set([main, accounts])) {
      await source.client.query('commit')
      source.markReusable()
    }
    yield encodeFrame('E', {
      tables: copied.map(({ copy, ...table }) => ({ ...table, rows: copy.rowCount })),
      sequences,
    })
  } finally {
    for (const source of new Set([main, accounts])) await source.end()
  }
}

const buildCopyStatement = (table: Table, service: Service | undefined) => {
  const columns = table.columns.join(', ')
  return service
    ? `copy (select ${columns} from ${table.name} ${buildRowFilter(service.id, table)}) to stdout`
    : `copy ${table.name} (${columns}) to stdout`
}

async function readHead(client: pg.ClientBase, service: Service | undefined): Promise<Head> {
  const { rows } = await client.query<Omit<Head, 'release' | 'service'>>(`
    select current_setting('server_version') as postgres, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "takenAt",
           (select json_agg(json_build_object('number', number, 'name', name, 'sha256', sha256) order by number) from migration) as migrations,
           (select encode(secret_digest, 'hex') from installation) as secret`)
  if (!rows[0]) throw new Error('a query without a table returned no row')
  return { release: manifest.version, ...rows[0], ...(service && { service: service.name }) }
}
