import { randomBytes } from 'node:crypto'
import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import { classifyLatency, latencyClasses } from '../../domain/latencies.ts'
import type { Step } from '../../telemetry/timeline.ts'
import { materialized } from '../lists/planner-fences.ts'

export interface LogEntry {
  /** Time of the response, in milliseconds since 1970. */
  at: number
  requestId: string
  username: string
  operation: string
  path: string
  subject: string
  status: number
  code: string | undefined
  /** Keyed hash of the Idempotency-Key, in hexadecimal. */
  keyHash: string | undefined
  milliseconds: number
  statements: number
  databaseMs: number
  steps: readonly Step[]
  /** True for requests of the console. Counts per minute leave them out. */
  isConsole: boolean
  /** The fields that an error names. */
  fields: readonly string[]
}

/**
 * Entries of a service within one second, a future row of `request_block`. They are strings and numbers, because the garbage collector copies
 * waiting objects again and again.
 */
export interface Block {
  serviceId: number
  /** RFC 3339. */
  second: string
  id: string
  count: number
  /** Requests that are not of the console; `rejected`, `failed` and `durations` count parts of them. */
  answered: number
  rejected: number
  failed: number
  /** Latency histogram (`domain/latencies.ts`). */
  durations: number[]
  /** Entries that are not encoded yet. */
  latest: LogEntry[]
  lines: string[]
  /** Hashes of values that rarely repeat, for the block's Bloom filter (`buildMarks`). */
  marks: number[]
  /** Values that repeat in many entries. They are hashed once per block, for the same filter. */
  common: Set<string>
}

/** Maximum entries of a block, so that its marks fit into a page of the table. */
const maxEntries = 500

export const isFull = ({ count }: Block) => count >= maxEntries

/** Distinguishes the block IDs of this process from the IDs of other processes. */
const processPrefix = randomBytes(6).toString('hex')
let blocks = 0

export const createBlock = (serviceId: number, second: string): Block => ({
  serviceId,
  second,
  id: `${processPrefix}-${(++blocks).toString(36).padStart(7, '0')}`,
  count: 0,
  answered: 0,
  rejected: 0,
  failed: 0,
  durations: Array.from({ length: latencyClasses }, () => 0),
  latest: [],
  lines: [],
  marks: [],
  common: new Set(),
})

export function addEntry(block: Block, entry: LogEntry) {
  block.latest.push(entry)
  block.count++
  if (block.latest.length >= entriesPerEncoding) encodeEntries(block)
}

/** Entries that are encoded one after another, which takes a fifth of the time, because code and data are in the processor's caches. */
const entriesPerEncoding = 100

/** Encodes the latest entries of a block. */
function encodeEntries(block: Block) {
  const { latest, lines, marks, common } = block
  let last: LogEntry | undefined
  for (const entry of latest) {
    const { at, requestId, username, operation, path, subject, status, code, keyHash } = entry
    const { milliseconds, statements, databaseMs, steps, isConsole, fields } = entry
    const otherSubject = subject === path ? undefined : subject
    lines.push(
      // biome-ignore format: as the view request_log counts them
      JSON.stringify([at % 1_000, requestId, username, operation, path, otherSubject, status, code, keyHash,
      toTenths(milliseconds), statements, toTenths(databaseMs), steps.map(({ name, at: startMs, milliseconds: durationMs, outcome }) => [name, toTenths(startMs), toTenths(durationMs), outcome]),
      isConsole, fields.length ? fields : undefined]),
    )
    marks.push(hashText(requestId), hashText(path))
    if (otherSubject !== undefined) marks.push(hashText(otherSubject))
    if (keyHash !== undefined) marks.push(hashText(keyHash))
    if (!isConsole) countEntry(block, entry)
    if (last?.operation !== operation || last.username !== username || last.status !== status || last.code !== code) {
      common.add(operation).add(username).add(String(status))
      if (status >= 400) common.add(failedMark)
      if (code !== undefined) common.add(code)
    }
    last = entry
  }
  latest.length = 0
}

/** Adds a request to the counts per minute. */
function countEntry(block: Block, { status, milliseconds }: LogEntry) {
  block.answered++
  if (status >= 500) block.failed++
  else if (status >= 400) block.rejected++
  const latency = classifyLatency(milliseconds)
  block.durations[latency] = (block.durations[latency] ?? 0) + 1
}

/** Returns tenths of a millisecond as an integer, which V8 serializes fast. */
const toTenths = (milliseconds: number) => Math.round(10 * milliseconds)

/** The mark of entries with an error. */
const failedMark = 'failed'

/** Size of a Bloom filter per value. With 16 bits, of which four are set, one in 400 blocks is read unnecessarily. */
const bytesPerMark = 2
/** Returns a 32-bit hash of a text (FNV-1a), faster in JavaScript than Node's native hashes. */
function hashText(text: string) {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

const probes = [0, 1, 2, 3]
const getProbe = (hash: number, probe: number) => (hash + Math.imul(probe, (hash >>> 15) | 1)) >>> 0

/** Returns the Bloom filter of the values in a block, in base64. */
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

/** SQL condition: true if a block may have an entry with this value. The planner estimates the `case` as true half of the time, so it keeps scanning by time. */
export function mayHave(value: string): Sql {
  const hash = hashText(value)
  const [a, b, c, d] = probes.map(
    probe => sql`get_bit(marks, ${getProbe(hash, probe)}::bigint % (8 * octet_length(marks))) = 0`,
  )
  return sql`case when ${a} or ${b} or ${c} or ${d} then false else true end`
}

export const mayHaveFailed = mayHave(failedMark)

/** SQL for a latency histogram from the count of each class, numbered from 1. */
export const sumDurations = (toCount: (position: Sql) => Sql): Sql =>
  sql`array[${latencyPositions.map(toCount).reduce((all, count) => sql`${all}, ${count}`)}]::integer[]`

const latencyPositions = Array.from({ length: latencyClasses }, (_, i) => raw(String(i + 1)))

/** Creates the partition of a day unless it exists. */
export const createDayPartition = (db: Db, day: string) => db.run(sql`select request_block_day(${day}::date)`)

/** Separates the texts of blocks. JSON never contains this character. */
const separator = '\u001e'

/**
 * Stores blocks of days whose partitions exist, and adds their counts per minute. Rows are locked in one order, so that processes can't
 * deadlock. Skips stored blocks and services that are being deleted. Commits without waiting for the disk.
 */
export function storeBlocks(db: Db, filled: readonly Block[]) {
  for (const block of filled) encodeEntries(block)
  const toArrayLiteral = (value: (block: Block) => string | number) => `{${filled.map(value).join()}}`
  return db.run(sql`
    with active as ${materialized(sql`
      select service_id, set_config('synchronous_commit', 'off', true) from service
       where service_id = any(${toArrayLiteral(({ serviceId }) => serviceId)}::integer[]) and deletion_state is null order by service_id for key share`)},
    block as ${materialized(sql`
      select g.* from unnest(
          ${toArrayLiteral(({ serviceId }) => serviceId)}::integer[], ${toArrayLiteral(({ second }) => second)}::timestamptz[], ${toArrayLiteral(({ id }) => id)}::text[],
          ${toArrayLiteral(buildMarks)}::text[], string_to_array(${filled.map(({ lines }) => lines.join('\n')).join(separator)}, ${separator}),
          ${toArrayLiteral(({ answered }) => answered)}::integer[], ${toArrayLiteral(({ rejected }) => rejected)}::integer[], ${toArrayLiteral(({ failed }) => failed)}::integer[],
          ${toArrayLiteral(({ durations }) => `"{${durations}}"`)}::text[])
          as g (service_id, second, block_id, marks, lines, answered, rejected, failed, durations)
       where g.service_id in (select service_id from active)`)},
    logged as (
      insert into request_block (service_id, second, block_id, marks, lines)
      select service_id, second, block_id, decode(marks, 'base64'), lines from block
      on conflict do nothing returning service_id, second, block_id)
    insert into request_minute as m (service_id, minute, answered, rejected, failed, durations)
    select service_id, date_trunc('minute', second), sum(answered), sum(rejected), sum(failed), ${sumDurations(n => sql`sum((b.durations::integer[])[${n}])`)}
      from block b join logged using (service_id, second, block_id) group by 1, 2 having sum(answered) > 0 order by 1, 2
    on conflict (service_id, minute) do update
      set (answered, rejected, failed, durations) = (m.answered + excluded.answered, m.rejected + excluded.rejected, m.failed + excluded.failed,
           ${sumDurations(n => sql`coalesce(m.durations[${n}], 0) + excluded.durations[${n}]`)})`)
}
