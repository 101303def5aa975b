import { memoize } from '../../../concurrency/ttl-cache.ts'
import { type Client, openClient } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import { type Release, releaseOf } from '../client/release.ts'
import { type GiftCards, openGiftCards } from './gift-cards.ts'
import { type Asked, openAsked } from './read-through.ts'
import { openReferenceBook, type ReferenceBook } from './reference-cache.ts'
import { openReturnReasons, type ReturnReasons } from './return-reasons.ts'

/** One Retail API as an opened driver has it: how to talk to it, and what is remembered of it. */
export interface Upstream {
  client: Client
  release: Release
  referenceBook(): Promise<ReferenceBook>
  returnReasons: ReturnReasons
  giftCards: GiftCards
  /** What a caller waits for, and several want at once: a customer's history, and their orders. */
  asked: Asked
}

/** Milliseconds that types and values of references count: head office hardly ever adds one. */
const referencesMs = 600_000
const forever = new AbortController().signal

/** Nothing is asked yet. */
export function openUpstream(connection: Connection): Upstream {
  const client = openClient(connection)
  return {
    client,
    release: releaseOf(client),
    referenceBook: memoize(async () => openReferenceBook(client, forever), referencesMs),
    returnReasons: openReturnReasons(client, referencesMs),
    giftCards: openGiftCards(client),
    asked: openAsked(),
  }
}
