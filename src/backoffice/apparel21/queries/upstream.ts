import { finishesWithin } from '../../../concurrency/backoff.ts'
import { freshSingleFlight, singleFlight } from '../../../concurrency/single-flight.ts'
import { memoize } from '../../../concurrency/ttl-cache.ts'
import { ApiError, ensureApiError } from '../../../errors/api-error.ts'
import { type Client, createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { createReleaseReader, type ReleaseReader } from '../client/release.ts'
import { createGiftCardChecker, type GiftCardChecker } from './gift-cards.ts'
import { createMerchantCheck, type FindUnknownMerchant } from './merchants.ts'
import { createReferenceCache, type ReferenceCache } from './reference-cache.ts'
import { createReturnReasonCache, type ReturnReasonCache } from './return-reasons.ts'

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
