import type { ListMeta } from '../shapes/general.ts'
import type { Answer } from './exchange.ts'

export interface Page<T> {
  data: T[]
  meta: ListMeta
}

/** A list that is walked: `for await (const record of walk)`. Nothing is asked for before, and a page is asked for when it is needed. */
export class Walk<T> implements AsyncIterable<T> {
  /** What the newest page said: `asOf` is the `updatedAfter` of the next walk. */
  meta: ListMeta | undefined
  readonly #read: (cursor?: string) => Promise<Page<T>>
  readonly #readWhole: () => Promise<Answer>

  constructor(read: (cursor?: string) => Promise<Page<T>>, readWhole: () => Promise<Answer>) {
    this.#read = read
    this.#readWhole = readWhole
  }

  /** One page: that after a cursor, else the first. */
  async page(cursor?: string): Promise<Page<T>> {
    const page = await this.#read(cursor)
    this.meta = page.meta
    return page
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.page(cursor)
      yield page
      if (!page.meta.hasNextPage) return
      cursor = page.meta.endCursor ?? undefined
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { data } of this.pages()) yield* data
  }

  /**
   * All records in one answer, as they come: faster than pages, for lists of any length. Where it is cut off it ends in an error
   * `cut_off`, and is begun again, not gone on with.
   */
  async *whole(): AsyncGenerator<T, void, undefined> {
    const { header, records } = await this.#readWhole()
    if (!records) return
    this.meta = {
      hasNextPage: false,
      endCursor: header('x-end-cursor'),
      asOf: header('x-as-of') ?? '',
      timeZone: header('x-time-zone') ?? '',
      ...(header('x-synced-at') !== null && { syncedAt: header('x-synced-at') ?? '' }),
      ...(header('x-warnings') !== null && { warnings: JSON.parse(header('x-warnings') ?? '') }),
    }
    yield* records as AsyncGenerator<T>
  }

  /** The first record, if there is one; asks for one page. */
  async first(): Promise<T | undefined> {
    for await (const record of this) return record
    return
  }

  /** All records at once; for lists that are known to be short. */
  async all(): Promise<T[]> {
    const all: T[] = []
    for await (const { data } of this.pages()) all.push(...data)
    return all
  }
}
