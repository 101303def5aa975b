import type { Database } from '../../db.ts'
import { ApiError } from '../../errors.ts'
import type { Service } from '../../settings.ts'
import { type Item, putBatch } from './batch.ts'
import type { Naming } from './columns.ts'
import { ImportError } from './fault.ts'
import { type Kind, kindNamed, kinds } from './kinds.ts'
import { openFeed, rowOf } from './reader.ts'
import { type Rejected, rejectedFile } from './rejected.ts'
import type { Source } from './source.ts'
import { takeTurn } from './turn.ts'

/** What became of the lines of a file, the header apart. */
export interface Summary {
  read: number
  inserted: number
  changed: number
  /** There already, just so; in a dry run, whatever is good. */
  unchanged: number
  refused: number
  /** Remarks, each with the number of lines it holds for. */
  notes: Readonly<Record<string, number>>
}

export interface Progress {
  /** Lines dealt with. */
  lines: number
  /** Bytes taken from the file, of `size` where that is known. */
  bytes: number
  size: number | undefined
}

export interface ImportOptions extends Naming {
  /** Where refused lines go; nowhere when absent. */
  rejected?: string | undefined
  /** Find the faults, write nothing. */
  dryRun?: boolean | undefined
  onProgress?: (progress: Progress) => void
  /** Called when another import of this kind has to end first. */
  onWait?: () => void
}

/** Lines of a batch: more save little, fewer cost a commit each. */
const batchLines = 1_000
/** What belongs together stays in one batch, up to this many lines. */
const batchLinesTogether = 5_000
/** A batch ends earlier with this many bytes, so that long lines do not take all the memory. */
const batchBytes = 4 * 1024 * 1024

/**
 * Imports a file: what is new is added, what differs is changed, what is there just so is left alone. Throws `ImportError` when the
 * file or the database does not let it go on; what was put in until then stays, and importing the file again is safe.
 */
export async function importFeed(
  db: Database,
  service: Service,
  kindName: string,
  source: Source,
  options: ImportOptions = {},
): Promise<Summary> {
  const kind = kindNamed(kindName)
  if (!kind) throw new ImportError(`There is no feed ${kindName}. The feeds: ${Object.keys(kinds).join(', ')}.`)
  const summary = { read: 0, inserted: 0, changed: 0, unchanged: 0, refused: 0, notes: {} }
  let endTurn: (() => void) | undefined
  try {
    if (!options.dryRun) endTurn = await takeTurn(db, service, kindName, options.onWait)
    await importLines({ db, service, kind, source, options, summary })
    return summary
  } catch (error) {
    throw isAway(error) ? cutShort(summary, error) : error
  } finally {
    endTurn?.()
    source.stream.destroy()
  }
}

interface Run {
  db: Database
  service: Service
  kind: Kind
  source: Source
  options: ImportOptions
  summary: Summary & { notes: Record<string, number> }
}

async function importLines({ db, service, kind, source, options, summary }: Run): Promise<void> {
  const { dryRun = false, onProgress, rejected: path } = options
  let bytes = 0
  const onRead = (read: number) => {
    bytes += read
  }
  const feed = await openFeed(source, kind, { ...options, currency: service.settings.currency, onRead })
  const headers = new Map(feed.fields.map(field => [field.name, field.header]))
  const headerOf = (column: string) => headers.get(column) ?? column
  const rejected = path === undefined ? undefined : rejectedFile(path, { ...feed, headerOf })
  const put = async (items: Item[]) => {
    const { inserted, changed, notes } = await putBatch(items, { db, service, kind, dryRun })
    const refused = await refuse(items, rejected)
    summary.read += items.length
    summary.inserted += inserted
    summary.changed += changed
    summary.refused += refused
    summary.unchanged += items.length - refused - inserted - changed
    for (const [note, count] of Object.entries(notes)) summary.notes[note] = (summary.notes[note] ?? 0) + count
    onProgress?.({ lines: summary.read, bytes, size: source.size })
  }
  // The next batch is read while the database is busy with this one; never more, so that the later line of two wins.
  let writing = Promise.resolve()
  try {
    for await (const items of batches()) {
      await writing
      writing = put(items)
      writing.catch(() => {})
    }
    await writing
    await rejected?.end()
  } catch (error) {
    await writing.catch(() => {})
    await rejected?.discard()
    throw error
  }

  function belongsTo(last: Item | undefined, next: Item) {
    const value = kind.together && next.row?.[kind.together]
    return value !== undefined && last?.row?.[kind.together as string] === value
  }

  async function* batches(): AsyncGenerator<Item[]> {
    let items: Item[] = []
    let size = 0
    const keys = new Set<string>()
    for await (const lines of feed.lines)
      for (const line of lines) {
        const item: Item = { line, ...rowOf(line, feed.fields, kind) }
        const key = kind.key.map(column => item.row?.[column]).join('\0')
        const repeats = item.row !== undefined && key !== '' && keys.has(key)
        const limit = belongsTo(items.at(-1), item) ? batchLinesTogether : batchLines
        if (repeats || items.length >= limit || size >= batchBytes) {
          yield items
          items = []
          size = 0
          keys.clear()
        }
        items.push(item)
        size += line.size
        if (item.row) keys.add(key)
      }
    if (items.length) yield items
  }
}

/** Writes out the refused lines of a batch, in their order, and counts them. */
async function refuse(items: readonly Item[], rejected: Rejected | undefined) {
  let refused = 0
  for (const { line, faults } of items) {
    if (!faults) continue
    refused++
    await rejected?.add(line, faults)
  }
  return refused
}

const isAway = (error: unknown) => error instanceof ApiError && error.code === 'back_office_unavailable'

function cutShort({ read, refused }: Summary, cause: unknown) {
  const error = new ImportError(
    `The database cannot be reached any more. ${read - refused} lines were imported and stay; import the file again when it is back.`,
  )
  error.cause = cause
  return error
}
