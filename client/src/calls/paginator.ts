import type { ListMeta } from '../shapes/general.ts'
import type { HttpResponse } from './http.ts'

export interface Page<T> {
  data: T[]
  meta: ListMeta
}

/** A list, read page by page: `for await (const record of list)`. A page is requested when it is needed. */
export class Paginator<T> implements AsyncIterable<T> {
  /** The `meta` of the last page. Its `asOf` is the `updatedAfter` of the next poll. */
  meta: ListMeta | undefined
  readonly #read: (cursor?: string) => Promise<Page<T>>
  readonly #readExport: () => Promise<HttpResponse>

  constructor(read: (cursor?: string) => Promise<Page<T>>, readExport: () => Promise<HttpResponse>) {
    this.#read = read
    this.#readExport = readExport
  }

  /** Returns the page after a cursor, or the first page. */
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
   * Yields all records of one bulk export. It is faster than pages. Throws `truncated` if the export is incomplete: start it again.
   */
  async *export(): AsyncGenerator<T, void, undefined> {
    const { header, records } = await this.#readExport()
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

  /** Returns the first record, or undefined. Requests one page. */
  async first(): Promise<T | undefined> {
    for await (const record of this) return record
    return
  }

  /** Returns all records in an array. Use it for short lists only. */
  async all(): Promise<T[]> {
    const all: T[] = []
    for await (const { data } of this.pages()) all.push(...data)
    return all
  }
}
