import type { Fault } from '../../errors.ts'
import type { Service } from '../../settings.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import type { Turn } from './turns.ts'
import type { Whole } from './whole.ts'

/** Records in a portion: enough that a statement for each does not matter, few enough that nobody waits long for one. */
const portion = 500

/** What the meta of a page tells beside the walk; what is undefined is left out. */
export interface Beside {
  syncedAt: string | undefined
  warnings: { code: string; detail: string }[] | undefined
}

/** What of these parameters was given, though it does not go with a whole list. */
export const faultsOfWhole = (given: URLSearchParams, names = ['limit', 'after_cursor', 'wait']): Fault[] =>
  names
    .filter(name => given.has(name))
    .map(parameter => ({
      parameter,
      code: 'invalid_parameter',
      detail: `\`${parameter}\` does not go with \`Accept: application/x-ndjson\`, which asks for the whole list.`,
    }))

/** A list as a whole, made of pages that are read in turn. */
export async function wholeOf(
  service: Service,
  turn: Turn,
  read: (asked: PageRequest) => Promise<{ page: Page; beside: Partial<Beside> }>,
): Promise<Whole> {
  const portionOf = (place: Partial<PageRequest>) => turn(() => read({ limit: portion, lines: true, ...place }))
  const { page, beside } = await portionOf({})
  const headers = headersOf(service, page.asOf, beside)
  return { headers, portions: portionsFrom(page, async place => (await portionOf(place)).page) }
}

/** The portions of a whole list behind the first, a page. The next one is read while the client takes one. */
async function* portionsFrom(
  first: Page,
  read: (place: Pick<PageRequest, 'asOf' | 'after'>) => Promise<Page>,
): AsyncGenerator<string> {
  for (let page = first; ; ) {
    const { asOf, end, hasNextPage, records } = page
    const next = hasNextPage && end ? read({ asOf, after: end }) : undefined
    // Where the client goes while it is read, nobody waits for it.
    next?.catch(() => {})
    if (records !== null) yield `${records}\n`
    if (!next) return
    page = await next
  }
}

/** What the `meta` of a page tells of a walk, as headers. */
export const headersOf = (service: Service, asOf: string, { syncedAt, warnings }: Partial<Beside> = {}) => ({
  'x-as-of': asOf,
  'x-time-zone': service.settings.timeZone,
  ...(syncedAt && { 'x-synced-at': syncedAt }),
  ...(warnings && { 'x-warnings': inAscii(JSON.stringify(warnings)) }),
})

/** JSON that a header can carry. */
const inAscii = (text: string) =>
  text.replace(/[^ -~]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
