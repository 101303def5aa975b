import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { FieldError } from '../../errors/api-error.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import type { Whole } from './bulk-export.ts'
import { readAhead, type SyncBatch } from './read-ahead.ts'

/** Records in a portion: enough that a statement for each does not matter, few enough that nobody waits long for one. */
const portion = 500

/** What the meta of a page tells beside the walk; what is undefined is left out. */
export interface Beside {
  /** The moment up to which the list is complete: the next poll is `updated_after=` this. */
  asOf: string
  syncedAt: string | undefined
  warnings: { code: string; detail: string }[] | undefined
}

/** What of these parameters was given, though it does not go with a whole list. */
export const faultsOfWhole = (given: URLSearchParams, names = ['limit', 'after_cursor', 'wait']): FieldError[] =>
  names
    .filter(name => given.has(name))
    .map(parameter => ({
      parameter,
      code: 'invalid_parameter',
      detail: `\`${parameter}\` can't be combined with \`Accept: application/x-ndjson\`, which exports the complete list.`,
    }))

/** A list as a whole, made of pages that are read in turn. */
export async function wholeOf(
  service: Service,
  turn: RunLimited,
  read: (asked: PageRequest) => Promise<{ page: Page; beside: Partial<Beside> }>,
): Promise<Whole> {
  const pageAt = (place: Partial<PageRequest>) => turn(() => read({ limit: portion, asLines: true, ...place }))
  const portionOf = ({ asOf, position, end, hasNextPage, records }: Page): SyncBatch => ({
    lines: records.map(text => `${text}\n`),
    next: hasNextPage && end ? async () => portionOf((await pageAt({ asOf, position, after: end })).page) : undefined,
  })
  const { page, beside } = await pageAt({})
  const headers = headersOf(service, { asOf: page.asOf, ...beside })
  return { headers, portions: readAhead(async () => portionOf(page)) }
}

/** What the `meta` of a page tells of a walk, as headers. */
export const headersOf = (service: Service, { asOf, syncedAt, warnings }: Pick<Beside, 'asOf'> & Partial<Beside>) => ({
  'x-as-of': asOf,
  'x-time-zone': service.settings.timeZone,
  ...(syncedAt && { 'x-synced-at': syncedAt }),
  ...(warnings && { 'x-warnings': inAscii(JSON.stringify(warnings)) }),
})

/** JSON that a header can carry. */
const inAscii = (text: string) =>
  text.replace(/[^ -~]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
