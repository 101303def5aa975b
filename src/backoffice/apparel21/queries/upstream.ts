import { finishesWithin } from '../../../concurrency/backoff.ts'
import { freshSingleFlight, singleFlight } from '../../../concurrency/single-flight.ts'
import { memoize } from '../../../concurrency/ttl-cache.ts'
import { ApiError, ensureApiError } from '../../../errors/api-error.ts'
import { type Client, createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { createRejection } from '../client/errors.ts'
import { createReleaseReader, type ReleaseReader } from '../client/release.ts'
import { normalizeReasonCode } from '../mapping/return-to-xml.ts'
import { findElements, readText } from '../xml/values.ts'
import { createGiftCardChecker, type GiftCardChecker } from './gift-cards.ts'
import { createReferenceCache, type ReferenceCache } from './reference-cache.ts'

/** The client of one Retail API, with its caches. */
export interface Upstream {
  client: Client
  release: ReleaseReader
  getReferences(): Promise<ReferenceCache>
  returnReasons: ReturnReasonCache
  giftCards: GiftCardChecker
  findUnknownMerchant: FindUnknownMerchant
  /** Refreshes a customer's history and orders for a waiting caller. */
  readThrough: ReadThrough
  /** Like `readThrough`, but the response is never older than the caller's request. */
  freshReadThrough: ReadThrough
}

/** Milliseconds for which reference types and values are cached. They hardly ever change. */
const referencesTtlMs = 600_000
const neverAborted = new AbortController().signal

/** Creates the client and its caches. Sends no request. */
export function createUpstream(connection: Connection): Upstream {
  const client = createClient(connection)
  return {
    client,
    release: createReleaseReader(client),
    getReferences: memoize(async () => createReferenceCache(client, neverAborted), referencesTtlMs),
    returnReasons: createReturnReasonCache(client, referencesTtlMs),
    giftCards: createGiftCardChecker(client),
    findUnknownMerchant: createMerchantCheck(client, referencesTtlMs),
    readThrough: createReadThrough(singleFlight()),
    freshReadThrough: createReadThrough(freshSingleFlight()),
  }
}

/** Milliseconds that a caller waits for the back office. A later response is still stored. */
const timeoutMs = 3_000

/** Refreshes stored data from the back office. Returns an error if a part could not be stored. */
type Refresh = () => Promise<ApiError | undefined>

/** Refreshes data for a waiting caller. Returns the reason if the stored data may be out of date. */
type ReadThrough = (key: string, refresh: Refresh) => Promise<ApiError | undefined>

/** Creates a read-through. Concurrent callers with the same key share a refresh. */
function createReadThrough(share: ReturnType<typeof singleFlight>): ReadThrough {
  return async (key, refresh) => {
    const result = share(key, refresh)
    if (await finishesWithin(result, timeoutMs)) return result.catch(ensureApiError)
    return new ApiError('back_office_unavailable', 'The back office did not respond in time.')
  }
}

/** The reference type of return reasons, with the same identifier in all known installations. */
const reasonReferenceType = '272'

/** The return reasons of a back office, cached. */
interface ReturnReasonCache {
  /** Returns the identifiers by normalised code (`normalizeReasonCode`). Loads the reasons again if one of the codes is missing, because it may be new. */
  getIds(codes: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** Creates the cache. `ttlMs`: milliseconds for which a response is cached. */
function createReturnReasonCache(client: Client, ttlMs: number): ReturnReasonCache {
  const create = () => memoize(() => fetchReturnReasonIds(client), ttlMs)
  let cached = create()
  return {
    async getIds(codes) {
      const ids = await cached()
      if (codes.every(code => ids.has(normalizeReasonCode(code)))) return ids
      const reloaded = create()
      const reloadedIds = await reloaded()
      cached = reloaded
      return reloadedIds
    },
  }
}

async function fetchReturnReasonIds(client: Client): Promise<ReadonlyMap<string, string>> {
  const roots = ['ReferencesbyType', 'ReferencesByType']
  const root = await client.document({ endpoint: 'references', path: ['References', reasonReferenceType], roots })
  return new Map(
    findElements(root, 'References', 'Reference').flatMap((reason): [string, string][] => {
      const [code, id] = [readText(reason, 'Code'), readText(reason, 'Id')]
      return code && id ? [[normalizeReasonCode(code), id]] : []
    }),
  )
}

/** The reference type of sales payment gateways (SPayGate). */
const gatewayReferenceType = '431'
const unknownGateway = 5100

/** Returns the error of the first gateway that the back office doesn't know, as a write would. Undefined: none, or it can't be determined. */
type FindUnknownMerchant = (
  gateways: readonly (string | null)[],
) => Promise<{ index: number; error: ApiError } | undefined>

/**
 * Creates a check of merchants for dry runs, which send no order. The Retail API has no list of merchants, but in some installations the
 * codes of the payment gateways are the merchant identifiers. The list counts only if it contains another merchant of the settings.
 */
function createMerchantCheck(client: Client, ttlMs: number): FindUnknownMerchant {
  const load = memoize(async () => {
    const roots = ['ReferencesbyType', 'ReferencesByType']
    const root = await client.document({ endpoint: 'references', path: ['References', gatewayReferenceType], roots })
    return new Set(
      findElements(root, 'References', 'Reference').flatMap(reference =>
        ['Code', 'Name'].flatMap(name => readText(reference, name)?.toLowerCase() ?? []),
      ),
    )
  }, ttlMs)
  return async gateways => {
    const merchants = client.connection.gateways ?? {}
    const isListed = (names: ReadonlySet<string>, gateway: string | null) => {
      const merchantId =
        gateway !== null && Object.hasOwn(merchants, gateway) ? merchants[gateway]?.merchantId : undefined
      return merchantId === undefined ? undefined : names.has(merchantId.toLowerCase())
    }
    if (gateways.every(gateway => isListed(new Set(), gateway) === undefined)) return
    const listed = await load().catch(() => new Set<string>())
    if (!Object.keys(merchants).some(gateway => isListed(listed, gateway))) return
    const index = gateways.findIndex(gateway => isListed(listed, gateway) === false)
    return index < 0 ? undefined : { index, error: createRejection('orders', unknownGateway) }
  }
}
