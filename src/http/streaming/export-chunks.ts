import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { FieldError } from '../../errors/api-error.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import { handleLater } from '../../telemetry/ignored-errors.ts'
import type { BulkExport } from './bulk-export.ts'

/** Records per chunk: enough to make the cost of a statement small, few enough that each one is fast. */
const chunkSize = 500

export interface Chunk {
  /** Complete lines. An element can have several. */
  lines: readonly string[]
  /** Reads the next chunk. Undefined after the last one. */
  next: (() => Promise<Chunk>) | undefined
}

/** Yields the lines of all chunks. Reads the next chunk while the current one is sent. */
export async function* readAhead(read: () => Promise<Chunk>): AsyncGenerator<string> {
  for (let current = read(); ; ) {
    const { lines, next } = await current
    const following = next?.()
    // If the client disconnects now, nothing awaits this promise.
    if (following) handleLater(following)
    yield* lines
    if (!following) return
    current = following
  }
}

/** Members of a list's `meta` that don't concern paging. Undefined members are left out. */
export interface ListMetaFields {
  /** The instant up to which the list is complete. The next poll sends it as `updated_after`. */
  asOf: string
  syncedAt: string | undefined
  warnings: { code: string; detail: string }[] | undefined
}

/** Returns an error for each query parameter that can't be combined with a bulk export. */
export const findExportConflicts = (query: URLSearchParams): FieldError[] =>
  ['limit', 'after_cursor', 'wait']
    .filter(name => query.has(name))
    .map(parameter => ({
      parameter,
      code: 'invalid_parameter',
      detail: `\`${parameter}\` can't be combined with \`Accept: application/x-ndjson\`, which exports the complete list.`,
    }))

/** Returns a bulk export of a list. `readPage` reads one page. `limit` runs it when a connection is free. */
export async function exportPages(
  service: Service,
  limit: RunLimited,
  readPage: (request: PageRequest) => Promise<{ page: Page; meta: Partial<ListMetaFields> }>,
): Promise<BulkExport> {
  const read = (start: Partial<PageRequest>) => limit(() => readPage({ limit: chunkSize, asLines: true, ...start }))
  const toChunk = ({ asOf, position, end, hasNextPage, records }: Page): Chunk => ({
    lines: records.map(record => `${record}\n`),
    next: hasNextPage && end ? async () => toChunk((await read({ asOf, position, after: end })).page) : undefined,
  })
  const { page, meta } = await read({})
  const headers = buildExportHeaders(service, { asOf: page.asOf, ...meta })
  return { headers, chunks: readAhead(async () => toChunk(page)) }
}

/** Returns the headers that carry the `meta` of a list. */
export const buildExportHeaders = (
  service: Service,
  { asOf, syncedAt, warnings }: Pick<ListMetaFields, 'asOf'> & Partial<ListMetaFields>,
) => ({
  'x-as-of': asOf,
  'x-time-zone': service.settings.timeZone,
  ...(syncedAt && { 'x-synced-at': syncedAt }),
  ...(warnings && { 'x-warnings': escapeNonAscii(JSON.stringify(warnings)) }),
})

/** Escapes JSON so that a header can carry it. */
const escapeNonAscii = (json: string) =>
  json.replace(/[^ -~]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
