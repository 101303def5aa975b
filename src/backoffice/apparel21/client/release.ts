import { isAtLeast, isRelease } from '../../../domain/values/release.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from './client.ts'

/** What came with which release. */
export const since = {
  productsByChange: '2016.3',
  allStock: '2021.2',
  personsByChange: '2022.1',
  returns: '2017.2',
  /** Documented in October 2022. */
  ordersOfEveryone: '2022.4',
  voucherDeliveryDate: '2022.3',
} as const

/** Returns the text of an HTML page without its tags. Scans for brackets, because `/<[^>]*>/` takes quadratic time on a run of `<`. */
function textIn(html: string) {
  let text = ''
  let at = 0
  for (;;) {
    const open = html.indexOf('<', at)
    const close = open < 0 ? -1 : html.indexOf('>', open)
    if (close < 0) return text + html.slice(at)
    text += `${html.slice(at, open)} `
    at = close + 1
  }
}

/** Returns the release that the root page names; undefined if it names none. */
export function releaseIn(html: string): string | undefined {
  const text = textIn(html)
    .replaceAll(/&nbsp;|&#160;|\s+/gi, ' ')
    .replaceAll(/ +/g, ' ')
  const [, year, number, letter = ''] = /Retail API Release\D{0,40}(\d{4})\.(\d{1,3})(?!\d)([a-z]?)/i.exec(text) ?? []
  const release = `${year}.${number}${letter.toLowerCase()}`
  return isRelease(release) ? release : undefined
}

/** Milliseconds until it is asked again where nobody said. */
const unknownMs = 60_000

/** The installed release of one Retail API. */
export interface Release {
  /** The last one that was told. Undefined where none ever was, which is warned of and counts as too early for everything. */
  read(): Promise<string | undefined>
  has(feature: keyof typeof since): Promise<boolean>
  /** The same where nothing but an answer will do. Throws where no release was ever told. */
  surelyHas(feature: keyof typeof since): Promise<boolean>
}

/**
 * Reads the root page when somebody asks, and remembers it; a pinned release outranks it. Nobody waits for a page that was read before:
 * while it is read anew the last known release goes on, and where it cannot be read that one stays.
 */
export function releaseOf(client: Client): Release {
  const { pinnedRelease, log } = client.connection
  const { releaseMs } = client.limits
  let known: string | undefined
  let look: Promise<string | undefined> | undefined
  let until = 0

  const looked = async () => {
    const told = await client.page().then(releaseIn, () => undefined)
    until = performance.now() + (told === undefined ? Math.min(unknownMs, releaseMs) : releaseMs)
    if (told === undefined) {
      const what =
        known === undefined
          ? 'is not known: what needs a certain one is unavailable.'
          : 'cannot be found out: the last known one goes on.'
      log?.warn({ ...(known !== undefined && { release: known }) }, `The release of the back office ${what}`)
    }
    known = told ?? known
    return known
  }
  const read = async () => {
    if (pinnedRelease !== undefined) return pinnedRelease
    if (!look || until < performance.now()) {
      until = Number.POSITIVE_INFINITY
      look = looked()
    }
    return known ?? look
  }
  return {
    read,
    has: async feature => isAtLeast((await read()) ?? '', since[feature]),
    async surelyHas(feature) {
      const release = await read()
      if (release === undefined)
        throw new ApiError('back_office_error', "The back-office version can't be determined. An operator can set it.")
      return isAtLeast(release, since[feature])
    },
  }
}
