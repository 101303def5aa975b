import { accountTables } from '../store/shards/control-tables.ts'
import { DamagedBackup, encodeFrame, type Frame, type TableHead } from './frames.ts'

/** A service in a backup, as its row in the table `service` describes it. */
interface StoredService {
  id: number
  name: string
  /** The shard with its rows, if it isn't the backed-up database. */
  shard: string | null
  /** True if its rows were being deleted, or were in another database. */
  isIncomplete: boolean
}

/** The services in a backup, and the number of their rows by service number and table. */
export interface ServiceSummary {
  services: StoredService[]
  counts: Map<number, Map<string, number>>
}

/** The table of a temporary copy of the service's row in the backup. */
export const storedServiceTable = 'stored_service'

/**
 * True for a table whose rows are replaced if one service is restored. Accounts belong to the installation. The audit log, the request log and
 * the record of erased customers describe what has happened, and stay.
 */
export const isRestoredInPlace = (table: string) =>
  !/^request_block_|^(request_minute|request_block|audit|erasure|service|service_move)$/.test(table) &&
  !accountTables.includes(table)

const [lineFeed, tab] = [10, 9]

/** Splits the COPY text of a table into rows. A row can continue in the next chunk. */
function createRowSplitter() {
  let rest = Buffer.alloc(0)
  return function* (chunk: Buffer): Generator<Buffer> {
    const bytes = rest.length ? Buffer.concat([rest, chunk]) : chunk
    let start = 0
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      yield bytes.subarray(start, end + 1)
      start = end + 1
    }
    rest = Buffer.from(bytes.subarray(start))
  }
}

/** Returns the text of a column. Tabs and line feeds in values are escaped (PostgreSQL's manual, COPY, text format). */
function readColumn(row: Buffer, column: number): string {
  let start = 0
  for (let i = 0; i < column; i++) start = row.indexOf(tab, start) + 1
  const end = row.indexOf(tab, start)
  return row.toString('utf8', start, end < 0 ? row.length - 1 : end)
}

/** Reads the table that a frame begins. Returns undefined for a table without rows of services. */
function readTable(body: Buffer) {
  const { name, columns } = JSON.parse(body.toString()) as TableHead
  const serviceColumn = columns.indexOf('service_id')
  return serviceColumn < 0 ? undefined : { name, columns, serviceColumn, splitRows: createRowSplitter() }
}

/** Creates a summary, and a function that adds each frame of a backup to it. */
export function createServiceSummary() {
  const summary: ServiceSummary = { services: [], counts: new Map() }
  let table: ReturnType<typeof readTable>
  return {
    summary,
    add([kind, body]: Frame) {
      if (kind === 'T') table = readTable(body)
      if (kind !== 'D' || !table) return
      for (const row of table.splitRows(body)) {
        const id = Number(readColumn(row, table.serviceColumn))
        if (table.name === 'service') summary.services.push(parseService(row, table.columns))
        if (!isRestoredInPlace(table.name)) continue
        const tables = summary.counts.get(id) ?? new Map<string, number>()
        tables.set(table.name, (tables.get(table.name) ?? 0) + 1)
        summary.counts.set(id, tables)
      }
    },
  }
}

function parseService(row: Buffer, columns: readonly string[]): StoredService {
  const read = (column: string) => {
    const index = columns.indexOf(column)
    if (index < 0) throw new DamagedBackup(`its table service has no column ${column}`)
    const text = readColumn(row, index)
    return text === '\\N' ? null : text
  }
  return {
    id: Number(read('service_id')),
    name: read('name') ?? '',
    shard: read('shard_name'),
    isIncomplete: read('deletion_state') === 'purging' || ['incoming', 'moved_away'].includes(read('move_state') ?? ''),
  }
}

/** Yields the frames of a backup with the rows of one service that are restored in place, and its row of `service` under another name. */
export async function* selectServiceRows(frames: AsyncIterable<Frame>, serviceId: number): AsyncGenerator<Frame> {
  const id = String(serviceId)
  let table: ReturnType<typeof readTable>
  for await (const [kind, body] of frames) {
    if (kind === 'T') {
      const read = readTable(body)
      table = read && (isRestoredInPlace(read.name) || read.name === 'service') ? read : undefined
      if (!table) continue
      const name = table.name === 'service' ? storedServiceTable : table.name
      yield ['T', encodeFrame('T', { name, columns: table.columns }).subarray(5)]
    } else if (kind === 'D') {
      if (!table) continue
      const { serviceColumn, splitRows } = table
      const rows = [...splitRows(body)].filter(row => readColumn(row, serviceColumn) === id)
      if (rows.length) yield ['D', Buffer.concat(rows)]
    } else yield [kind, body]
  }
}
