import { randomBytes } from 'node:crypto'
import { type Db, type Sql, sql } from '../../database/db.ts'
import type { Step } from '../../telemetry/timeline.ts'
import { materialized } from '../lists/planner-fences.ts'

/** A request that was answered, as it is logged. */
export interface LogEntry {
  /** When it was answered, in milliseconds since 1970. */
  at: number
  requestId: string
  username: string
  operation: string
  path: string
  subject: string
  status: number
  code: string | undefined
  /** Of the Idempotency-Key, in hexadecimal. */
  keyHash: string | undefined
  milliseconds: number
  statements: number
  databaseMs: number
  steps: readonly Step[]
}

/**
 * Lines of a service that were answered within one second: a row of `request_block` to be. They are texts and numbers, because objects that
 * wait are copied again and again by the collector of garbage.
 */
export interface Block {
  serviceId: number
  /** RFC 3339. */
  second: string
  id: string
  count: number
  rejected: number
  failed: number
  /** Those that are not written down yet. */
  latest: LogEntry[]
  lines: string[]
  /** Hashes of what is hardly the same in two lines. */
  marks: number[]
  /** What is the same in many. */
  common: Set<string>
}

/** Lines of a block: so many that its marks fit into a page of the table. */
const maxEntries = 500

export const isFull = ({ count }: Block) => count >= maxEntries

const ownPrefix = randomBytes(6).toString('hex')
let blocks = 0

export const createBlock = (serviceId: number, second: string): Block => ({
  serviceId,
  second,
  id: `${ownPrefix}-${(++blocks).toString(36).padStart(7, '0')}`,
  count: 0,
  rejected: 0,
  failed: 0,
  latest: [],
  lines: [],
  marks: [],
  common: new Set(),
})

/** Adds a line to a block. */
export function addEntry(block: Block, line: LogEntry) {
  block.latest.push(line)
  block.count++
  if (block.latest.length >= entriesPerEncoding) encodeEntries(block)
}

/** Lines that are written down one after the other: what the processor has just done it does again in a fifth of the time. */
const entriesPerEncoding = 100

/** Makes texts and numbers of a block's latest lines. */
function encodeEntries(block: Block) {
  const { latest, lines, marks, common } = block
  let last: LogEntry | undefined
  for (const line of latest) {
    const { at, requestId, username, operation, path, subject, status, code, keyHash } = line
    const { milliseconds, statements, databaseMs, steps } = line
    const other = subject === path ? undefined : subject
    lines.push(
      // biome-ignore format: as the view request_log counts them
      JSON.stringify([at % 1_000, requestId, username, operation, path, other, status, code, keyHash,
      toTenths(milliseconds), statements, toTenths(databaseMs), steps.map(({ what, at, milliseconds, outcome }) => [what, toTenths(at), toTenths(milliseconds), outcome])]),
    )
    marks.push(hashText(requestId), hashText(path))
    if (other !== undefined) marks.push(hashText(other))
    if (keyHash !== undefined) marks.push(hashText(keyHash))
    if (status >= 500) block.failed++
    else if (status >= 400) block.rejected++
    if (last?.operation !== operation || last.username !== username || last.status !== status || last.code !== code) {
      common.add(operation).add(username).add(String(status))
      if (status >= 400) common.add(failedMark)
      if (code !== undefined) common.add(code)
    }
    last = line
  }
  latest.length = 0
}

/** Of a millisecond: V8 writes whole numbers in no time. */
const toTenths = (milliseconds: number) => Math.round(10 * milliseconds)

/** By what lines of errors are found, whatever the error. */
const failedMark = 'failed'

/** With 16 bits for each value and four of them set, one block of 400 is read in vain. */
const bytesPerMark = 2
/** 32 bits of a text (FNV-1a): in JavaScript faster than what Node has natively. */
function hashText(text: string) {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

const probes = [0, 1, 2, 3]
const getProbe = (hash: number, probe: number) => (hash + Math.imul(probe, (hash >>> 15) | 1)) >>> 0

function buildMarks({ marks, common }: Block) {
  const hashes = [...marks, ...[...common].map(hashText)]
  const bytes = Buffer.alloc(bytesPerMark * hashes.length)
  for (const hash of hashes)
    for (const probe of probes) {
      const bit = getProbe(hash, probe) % (8 * bytes.length)
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7))
    }
  return bytes.toString('base64')
}

/** Whether a block may have a line with this value. Of a shape that the planner takes for true half of the time: it is to go on walking by time. */
export function mayHave(value: string): Sql {
  const hash = hashText(value)
  const [a, b, c, d] = probes.map(
    probe => sql`get_bit(marks, ${getProbe(hash, probe)}::bigint % (8 * octet_length(marks))) = 0`,
  )
  return sql`case when ${a} or ${b} or ${c} or ${d} then false else true end`
}

export const mayHaveFailed = mayHave(failedMark)

/** Makes the partition of a day, unless it is there. */
export const createDayPartition = (db: Db, day: string) => db.run(sql`select request_block_day(${day}::date)`)

/** Between the texts of blocks: JSON has no such character. */
const separator = '\u001e'

/**
 * Writes blocks of days whose partitions are there, and counts their lines by the minute: in one order, so that no two processes wait for each
 * other. What is written already is not written again, and a service that is being removed gets none: it waits for those under way. Nothing
 * waits until they are on the disk.
 */
export function storeBlocks(db: Db, blocks: readonly Block[]) {
  for (const block of blocks) encodeEntries(block)
  const of = (value: (block: Block) => string | number) => `{${blocks.map(value).join()}}`
  return db.run(sql`
    with held as ${materialized(sql`
      select service_id, set_config('synchronous_commit', 'off', true) from service
       where service_id = any(${of(({ serviceId }) => serviceId)}::integer[]) and deletion_state is null order by service_id for key share`)},
    given as ${materialized(sql`
      select g.* from unnest(
          ${of(({ serviceId }) => serviceId)}::integer[], ${of(({ second }) => second)}::timestamptz[], ${of(({ id }) => id)}::text[],
          ${of(buildMarks)}::text[], string_to_array(${blocks.map(({ lines }) => lines.join('\n')).join(separator)}, ${separator}),
          ${of(({ count }) => count)}::integer[], ${of(({ rejected }) => rejected)}::integer[], ${of(({ failed }) => failed)}::integer[])
          as g (service_id, second, block_id, marks, lines, answered, rejected, failed)
       where g.service_id in (select service_id from held)`)},
    logged as (
      insert into request_block (service_id, second, block_id, marks, lines)
      select service_id, second, block_id, decode(marks, 'base64'), lines from given
      on conflict do nothing returning service_id, second, block_id)
    insert into request_minute as m (service_id, minute, answered, rejected, failed)
    select service_id, date_trunc('minute', second), sum(answered), sum(rejected), sum(failed)
      from given join logged using (service_id, second, block_id) group by 1, 2 order by 1, 2
    on conflict (service_id, minute) do update
      set (answered, rejected, failed) = (m.answered + excluded.answered, m.rejected + excluded.rejected, m.failed + excluded.failed)`)
}
