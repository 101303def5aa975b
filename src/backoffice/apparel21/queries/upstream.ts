import { memoize } from '../../../concurrency/ttl-cache.ts'
import { type Client, createClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { createReleaseReader, type ReleaseReader } from '../client/release.ts'
import { createGiftCardChecker, type GiftCardChecker } from './gift-cards.ts'
import { createReadThrough, type ReadThrough } from './read-through.ts'
import { createReferenceCache, type ReferenceCache } from './reference-cache.ts'
import { createReturnReasonCache, type ReturnReasonCache } from './return-reasons.ts'

/** One Retail API as an opened driver has it: how to talk to it, and what is remembered of it. */
export interface Upstream {
  client: Client
  release: ReleaseReader
  getReferences(): Promise<ReferenceCache>
  returnReasons: ReturnReasonCache
  giftCards: GiftCardChecker
  /** What a caller waits for, and several want at once: a customer's history, and their orders. */
  readThrough: ReadThrough
}

/** Milliseconds that types and values of references count: head office hardly ever adds one. */
const referencesTtlMs = 600_000
const forever = new AbortController().signal

/** Nothing is asked yet. */
export function createUpstream(connection: Connection): Upstream {
  const client = createClient(connection)
  return {
    client,
    release: createReleaseReader(client),
    getReferences: memoize(async () => createReferenceCache(client, forever), referencesTtlMs),
    returnReasons: createReturnReasonCache(client, referencesTtlMs),
    giftCards: createGiftCardChecker(client),
    readThrough: createReadThrough(),
  }
}
