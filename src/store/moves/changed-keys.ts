import { type Database, raw, sql } from '../../database/db.ts'
import type { KeySet, Table } from './compare-table.ts'
import type { Move } from './moves.ts'
import { createSlot, getKeysName } from './replication.ts'

/** Messages that are read at a time. A larger transaction is read completely. */
const maxMessages = 20_000

/** Starts to record the keys of the service's written rows at the source. Waits for running transactions. `name`: see `getMoveName`. */
export async function captureChangedKeys(
  source: Database,
  name: string,
  { serviceId }: Pick<Move, 'serviceId'>,
  tables: readonly Table[],
) {
  const rows = tables.map(table => `${table.name} (${table.key.join(', ')}) where (service_id = ${serviceId})`)
  await source.run(raw(`create publication ${getKeysName(name)} for table ${rows.join(', ')}`))
  await createSlot(source, getKeysName(name))
}

/** Adds the keys of rows that were written since the last call, up to an LSN of the source, to the keys of their tables. */
export async function readChangedKeys(source: Database, name: string, lsn: string, keys: ReadonlyMap<string, KeySet>) {
  for (;;) {
    const messages = await source.rows<{ data: Buffer }>(sql`
      select data from pg_logical_slot_get_binary_changes(${getKeysName(name)}, ${lsn}::pg_lsn, ${maxMessages},
        'proto_version', '1', 'publication_names', ${getKeysName(name)})`)
    if (!messages.length) return
    const tables = new Map<number, KeySet>()
    for (const { data } of messages) parseMessage(data, tables, keys)
  }
}

/** Reads the keys in a message of `pgoutput` (PostgreSQL's manual, 55.9: logical replication message formats). */
function parseMessage(data: Buffer, tables: Map<number, KeySet>, keys: ReadonlyMap<string, KeySet>) {
  const kind = String.fromCharCode(data[0] ?? 0)
  // `R` gives the number and the name of a table. `I`, `U` and `D` are an insert, update and delete in the table with a number.
  if (kind === 'R') {
    const [, end] = parseCString(data, 5)
    const table = keys.get(parseCString(data, end)[0])
    if (table) tables.set(data.readInt32BE(1), table)
  }
  if (!'IUD'.includes(kind)) return
  const changed = tables.get(data.readInt32BE(1))
  if (!changed) throw new Error('PostgreSQL sent a change of a table that is not published.')
  // An update that changes the key has the old key before the new one.
  for (let offset = 5; offset < data.length; ) {
    const [values, end] = parseTuple(data, offset + 1)
    changed.add(JSON.stringify(values))
    offset = end
  }
}

/** Returns a zero-terminated string and the offset after it. */
function parseCString(data: Buffer, offset: number) {
  const end = data.indexOf(0, offset)
  return [data.toString('utf8', offset, end), end + 1] as const
}

/** Returns the columns of a row as text, and the offset after it. Throws if a column is null: a key has no null. */
function parseTuple(data: Buffer, offset: number) {
  const values: string[] = []
  let next = offset + 2
  for (let remaining = data.readInt16BE(offset); remaining > 0; remaining--) {
    if (data[next] !== 't'.charCodeAt(0)) throw new Error('PostgreSQL sent a row without its key.')
    const end = next + 5 + data.readInt32BE(next + 1)
    values.push(data.toString('utf8', next + 5, end))
    next = end
  }
  return [values, next] as const
}
