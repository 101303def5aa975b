import { type Database, raw, sql } from '../../database/db.ts'
import type { Keys, Table } from './compare-table.ts'
import type { Move } from './moves.ts'
import { keysOf } from './replication.ts'

/** Messages that are read at a time, or as many as a transaction has. */
const messagesAtOnce = 20_000

/** From now on the source keeps which rows of the service are written. Waits for the transactions that are under way. */
export async function followKeys(
  source: Database,
  name: string,
  { serviceId }: Pick<Move, 'serviceId'>,
  tables: readonly Table[],
) {
  const rows = tables.map(each => `${each.name} (${each.key.join(', ')}) where (service_id = ${serviceId})`)
  await source.run(raw(`create publication ${keysOf(name)} for table ${rows.join(', ')}`))
  await source.rows(sql`select pg_create_logical_replication_slot(${keysOf(name)}, 'pgoutput')`)
}

/** Adds to each table's keys those of the rows that were written since it was asked last, up to a position of the source's log. */
export async function addChanged(source: Database, name: string, upTo: string, keys: ReadonlyMap<string, Keys>) {
  for (;;) {
    const messages = await source.rows<{ data: Buffer }>(sql`
      select data from pg_logical_slot_get_binary_changes(${keysOf(name)}, ${upTo}::pg_lsn, ${messagesAtOnce},
        'proto_version', '1', 'publication_names', ${keysOf(name)})`)
    if (!messages.length) return
    const tables = new Map<number, Keys>()
    for (const { data } of messages) take(data, tables, keys)
  }
}

/** Takes the keys from a message of `pgoutput` (PostgreSQL's manual, 55.9: logical replication message formats). */
function take(data: Buffer, tables: Map<number, Keys>, keys: ReadonlyMap<string, Keys>) {
  const kind = String.fromCharCode(data[0] ?? 0)
  if (kind === 'R') {
    const [, end] = textAt(data, 5)
    const found = keys.get(textAt(data, end)[0])
    if (found) tables.set(data.readInt32BE(1), found)
  }
  if (!'IUD'.includes(kind)) return
  const known = tables.get(data.readInt32BE(1))
  if (!known) throw new Error('PostgreSQL tells of a table that is not followed.')
  // An update whose key is another has the old one before the new one.
  for (let at = 5; at < data.length; ) {
    const [values, end] = valuesAt(data, at + 1)
    known.add(JSON.stringify(values))
    at = end
  }
}

function textAt(data: Buffer, at: number) {
  const end = data.indexOf(0, at)
  return [data.toString('utf8', at, end), end + 1] as const
}

function valuesAt(data: Buffer, at: number) {
  const values: string[] = []
  let next = at + 2
  for (let left = data.readInt16BE(at); left > 0; left--) {
    if (data[next] !== 't'.charCodeAt(0)) throw new Error('PostgreSQL tells of a row without its key.')
    const end = next + 5 + data.readInt32BE(next + 1)
    values.push(data.toString('utf8', next + 5, end))
    next = end
  }
  return [values, next] as const
}
