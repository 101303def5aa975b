import { freshSingleFlight, singleFlight } from '../../../concurrency/single-flight.ts'
import { memoize } from '../../../concurrency/ttl-cache.ts'
import { type Client, createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { createReleaseReader, type ReleaseReader } from '../client/release.ts'
import { createGiftCardChecker, type GiftCardChecker } from './gift-cards.ts'
import { createMerchantCheck, type FindUnknownMerchant } from './merchants.ts'
import { createReadThrough, type ReadThrough } from './read-through.ts'
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
