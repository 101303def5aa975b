import { isAtLeast, isRelease } from '../../../domain/release.ts'
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

/** The release that the text of the root page tells; undefined where it tells none. */
export function releaseIn(html: string): string | undefined {
  const text = html.replaceAll(/<[^>]*>|&nbsp;|&#160;|\s+/gi, ' ').replaceAll(/ +/g, ' ')
  const [, year, number, letter = ''] = /Retail API Release\D{0,40}(\d{4})\.(\d{1,3})(?!\d)([a-z]?)/i.exec(text) ?? []
  const release = `${year}.${number}${letter.toLowerCase()}`
  return isRelease(release) ? release : undefined
}

/** Milliseconds that an answer counts, and that it counts that there was none. */
const knownMs = 3_600_000
const unknownMs = 60_000

/** The installed release of one Retail API. */
export interface Release {
  /** Undefined where it cannot be found out, which is warned of and counts as too early for everything. */
  read(): Promise<string | undefined>
  has(feature: keyof typeof since): Promise<boolean>
}

/** Reads the root page when somebody asks, and remembers it; a pinned release outranks it. */
export function releaseOf(client: Client): Release {
  const { pinnedRelease, log } = client.connection
  let known: { release: Promise<string | undefined>; until: number } | undefined

  const look = async () => {
    const release = await client.page().then(releaseIn, () => undefined)
    if (release === undefined) {
      log?.warn({}, 'The release of the back office is not known: what needs a certain one is unavailable.')
      if (known) known.until = performance.now() + unknownMs
    }
    return release
  }
  const read = () => {
    if (pinnedRelease !== undefined) return Promise.resolve<string | undefined>(pinnedRelease)
    if (!known || known.until < performance.now()) {
      known = { release: Promise.resolve(undefined), until: performance.now() + knownMs }
      known.release = look()
    }
    return known.release
  }
  return {
    read,
    has: async feature => isAtLeast((await read()) ?? '', since[feature]),
  }
}
