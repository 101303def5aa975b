import type { ApiError } from '../../../errors.ts'
import { type Client, openClient } from '../calls/client.ts'
import type { Connection } from '../calls/connection.ts'
import { type Release, releaseOf } from '../calls/release.ts'
import { remembered } from '../calls/remembered.ts'
import { type GiftCards, openGiftCards } from './gift-cards.ts'
import { openReferenceBook, type ReferenceBook } from './reference-book.ts'
import { openReturnReasons, type ReturnReasons } from './return-reasons.ts'

/** One Retail API as an opened driver has it: how to talk to it, and what is remembered of it. */
export interface Upstream {
  client: Client
  release: Release
  referenceBook(): Promise<ReferenceBook>
  returnReasons: ReturnReasons
  giftCards: GiftCards
  /** Histories that are being asked for, by service and customer: what each comes to (`histories.ts`). */
  readonly histories: Map<string, Promise<ApiError | undefined>>
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
    referenceBook: remembered(async () => openReferenceBook(client, forever), referencesMs),
    returnReasons: openReturnReasons(client, referencesMs),
    giftCards: openGiftCards(client),
    histories: new Map(),
  }
}
