import { isAtLeast, isRelease } from '../../../domain/values/release.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { Client } from './client.ts'

/** The first release that has each feature. */
export const featureReleases = {
  productsByChange: '2016.3',
  freightOptions: '2021.1',
  allStock: '2021.2',
  futurePrices: '2021.2',
  coupons: '2021.3',
  personsByChange: '2022.1',
  returns: '2017.2',
  /** First documented in October 2022. */
  ordersOfEveryone: '2022.4',
  voucherDeliveryDate: '2022.3',
} as const

/** Returns the text of an HTML page without its tags. Scans for brackets, because `/<[^>]*>/` takes quadratic time on a run of `<`. */
function stripTags(html: string) {
  let text = ''
  let position = 0
  for (;;) {
    const open = html.indexOf('<', position)
    const close = open < 0 ? -1 : html.indexOf('>', open)
    if (close < 0) return text + html.slice(position)
    text += `${html.slice(position, open)} `
    position = close + 1
  }
}

/** Returns the release that the root page shows. Returns undefined if it shows none. */
export function parseRelease(html: string): string | undefined {
  const text = stripTags(html)
    .replaceAll(/&nbsp;|&#160;|\s+/gi, ' ')
    .replaceAll(/ +/g, ' ')
  const [, year, number, letter = ''] = /Retail API Release\D{0,40}(\d{4})\.(\d{1,3})(?!\d)([a-z]?)/i.exec(text) ?? []
  const release = `${year}.${number}${letter.toLowerCase()}`
  return isRelease(release) ? release : undefined
}

/** Milliseconds until the root page is read again if it showed no release. */
const unknownReleaseTtlMs = 60_000

/** Reads the installed release of one Retail API. */
export interface ReleaseReader {
  /** Returns the last known release. Returns undefined and logs a warning if no release was ever known. */
  read(): Promise<string | undefined>
  /** True if the installed release has the feature. An unknown release has no feature. */
  has(feature: keyof typeof featureReleases): Promise<boolean>
  /** True if the installed release has the feature. Throws 502 `back_office_error` if the release is unknown. */
  hasOrThrow(feature: keyof typeof featureReleases): Promise<boolean>
}

/**
 * Creates a reader that loads the root page on demand and caches the release. A pinned release takes precedence.
 * Pattern: stale-while-revalidate. While the page is loaded again, and if loading fails, the last known release is returned.
 */
export function createReleaseReader(client: Client): ReleaseReader {
  const { pinnedRelease, log } = client.connection
  const { releaseTtlMs } = client.limits
  let lastKnown: string | undefined
  let loading: Promise<string | undefined> | undefined
  let expiresAt = 0

  const load = async () => {
    const release = await client.page().then(parseRelease, () => undefined)
    expiresAt = performance.now() + (release === undefined ? Math.min(unknownReleaseTtlMs, releaseTtlMs) : releaseTtlMs)
    if (release === undefined && lastKnown === undefined)
      log?.warn({}, 'back-office release unknown: features that need a release are unavailable')
    else if (release === undefined)
      log?.warn({ release: lastKnown }, 'back-office release unreadable: the last known release stays in effect')
    lastKnown = release ?? lastKnown
    return lastKnown
  }
  const read = async () => {
    if (pinnedRelease !== undefined) return pinnedRelease
    if (!loading || expiresAt < performance.now()) {
      // Prevents a second load until this one sets the time.
      expiresAt = Number.POSITIVE_INFINITY
      loading = load()
    }
    return lastKnown ?? loading
  }
  return {
    read,
    has: async feature => isAtLeast((await read()) ?? '', featureReleases[feature]),
    async hasOrThrow(feature) {
      const release = await read()
      if (release === undefined)
        throw new ApiError('back_office_error', "The back-office version can't be determined. An operator can set it.")
      return isAtLeast(release, featureReleases[feature])
    },
  }
}
