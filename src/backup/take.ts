import { createHash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import manifest from '../../package.json' with { type: 'json' }
import type { Database } from '../db.ts'
import type { Service } from '../settings.ts'
import { connectAlone } from '../store/running/beside-pool.ts'
import { frame, type Head } from './frames.ts'
import type { Progress } from './progress.ts'
import { countersOf, rowsOf, type Table, tablesOf } from './tables.ts'

interface Taking {
  /** Only this service's rows. */
  service?: Service | undefined
  onProgress?: Progress
  onHead?: (head: Head) => void
}

/**
 * The frames of a backup: every row as it stood in one moment, that of a snapshot which nobody waits for (repeatable read). What is
 * encrypted stays so.
 */
export async function* backupOf(
  db: Database,
  { service, onProgress = () => {}, onHead = () => {} }: Taking,
): AsyncGenerator<Buffer> {
  const { client, becomeIdle, end } = await connectAlone(db, 'begin isolation level repeatable read, read only')
  try {
    const head = await headOf(client, service)
    onHead(head)
    yield frame('H', head)
    const tables = await tablesOf(client)
    // Held until the end: a day of the log of requests would be dropped meanwhile.
    await client.query(`lock table ${tables.map(({ name }) => name).join(', ')} in access share mode`)
    const size = tables.reduce((sum, table) => sum + table.bytes, 0)
    let bytes = 0
    const taken = []
    for (const table of tables) {
      yield frame('T', { name: table.name, columns: table.columns })
      const hash = createHash('sha256')
      const copy = client.query(copyTo(copyOf(table, service)))
      for await (const chunk of copy) {
        hash.update(chunk)
        bytes += chunk.length
        // What a service has of the tables nobody knows before.
        onProgress({ bytes, ...(!service && { size: Math.max(size, bytes) }) })
        yield frame('D', chunk)
      }
      taken.push({ copy, name: table.name, sha256: hash.digest('hex') })
    }
    // A number that was given since the snapshot is skipped, no harm.
    const counters = await countersOf(client)
    await client.query('commit')
    yield frame('E', { tables: taken.map(({ copy, ...rest }) => ({ ...rest, rows: copy.rowCount })), counters })
    becomeIdle()
  } finally {
    await end()
  }
}

const copyOf = (table: Table, service: Service | undefined) => {
  const columns = table.columns.join(', ')
  return service
    ? `copy (select ${columns} from ${table.name} ${rowsOf(service.id, table)}) to stdout`
    : `copy ${table.name} (${columns}) to stdout`
}

async function headOf(client: pg.ClientBase, service: Service | undefined): Promise<Head> {
  const { rows } = await client.query<Omit<Head, 'release' | 'service'>>(`
    select current_setting('server_version') as postgres, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "takenAt",
           (select json_agg(json_build_object('number', number, 'name', name, 'sha256', sha256) order by number) from migration) as migrations,
           (select encode(secret_digest, 'hex') from installation) as secret`)
  if (!rows[0]) throw new Error('a query without a table answers one row')
  return { release: manifest.version, ...rows[0], ...(service && { service: service.name }) }
}
