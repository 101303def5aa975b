import { ApiError } from '../../../errors/api-error.ts'
import { parseInteger } from '../xml/values.ts'
import type { ExpectedDocument, Xml } from '../xml/xml.ts'
import type { Client } from './client.ts'
import type { RetailRequest } from './request.ts'

/** A list that the Retail API returns page by page. */
interface PagedList extends RetailRequest, ExpectedDocument {
  /** Returns the identifier by which repeated records are recognised. */
  getKey(record: Xml): string
  /** Awaited before each page is requested. */
  beforePage?(): Promise<void>
}

export interface ListSummary {
  /** The number of records when the first page was read. Undefined if the server doesn't send `TotalRows`. */
  total?: number
}

/** Rows after which a list without `TotalRows` counts as endless. */
const maxRows = 5_000_000

/** Returns the number of rows that the next page repeats. */
const getOverlap = (rows: number) => Math.min(Math.ceil(rows / 20), 100, rows - 1)

/**
 * Yields the records of a list, a few of them possibly twice. Each page overlaps the previous page, so that rows that move between two
 * requests are not skipped. If the server ignores the paging parameters, its complete response is yielded in chunks.
 * Throws 502 `back_office_error` if two pages don't overlap, a page repeats, the list doesn't end, or the number of rows is wrong.
 */
export async function* readPages(
  client: Client,
  list: PagedList,
  summary: ListSummary = {},
): AsyncGenerator<Xml[], void> {
  const { pageRows } = client.limits
  const createError = (reason: string) => {
    client.connection.log?.warn({ list: list.path.join('/'), reason }, 'list pages inconsistent')
    return new ApiError('back_office_error')
  }
  let yielded = 0
  /** The keys of the rows that the next page must repeat. */
  let overlap: string[] = []
  for (let startRow = 1; ; ) {
    const query = { ...list.query, startRow, pageRows }
    await list.beforePage?.()
    const { root, records } = await client.list({ ...list, query, size: 'page', mayBeEmpty: startRow > 1 })
    const total = parseInteger(root?.attributes.TotalRows) ?? undefined
    if (startRow === 1 && total !== undefined) summary.total = total
    const initialTotal = summary.total

    const repeatedKeys = new Set(overlap)
    let tail: string[] = []
    let isOverlapping = overlap.length === 0
    let rows = 0
    let chunk: Xml[] = []
    for await (const record of records) {
      rows++
      const key = list.getKey(record)
      tail.push(key)
      if (tail.length > 2 * pageRows) tail = tail.slice(-pageRows)
      if (repeatedKeys.has(key)) isOverlapping = true
      else {
        yielded++
        chunk.push(record)
      }
      // Only a server that ignores the paging parameters sends more rows than requested.
      if (chunk.length > pageRows) {
        yield chunk
        chunk = []
      }
    }
    tail = tail.slice(tail.length - getOverlap(rows))
    const isRepeated = tail.length > 0 && tail.join() === overlap.join()
    const lastRow = startRow - 1 + rows
    const isEnd =
      rows === 0 || (total !== undefined ? lastRow === total : startRow === 1 ? rows !== pageRows : rows < pageRows)
    if (!isOverlapping && rows > 0) throw createError('two pages do not overlap')
    if (total !== undefined && lastRow > total) throw createError('more rows than TotalRows')
    if (isRepeated && !isEnd) {
      // Without a total, the server may ignore the paging parameters and have exactly as many rows as a page.
      if (total === undefined) return
      throw createError('a page repeats the previous page')
    }
    if (chunk.length) yield chunk

    if (isEnd) {
      if (yielded < (initialTotal ?? 0)) throw createError('fewer rows than TotalRows')
      return
    }
    if (yielded > (initialTotal === undefined ? maxRows : 2 * initialTotal + 10_000))
      throw createError('the list does not end')
    overlap = tail
    startRow = lastRow - tail.length + 1
  }
}
