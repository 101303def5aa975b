import { ApiError } from '../../../errors/api-error.ts'
import { wholeIn } from '../xml/values.ts'
import type { Expected, Xml } from '../xml/xml.ts'
import type { Client } from './client.ts'
import type { Asking } from './request.ts'

/** A list that is read page by page. */
interface Paged extends Asking, Expected {
  keyOf(record: Xml): string
  /** Is awaited before each page is asked for. */
  beforePage?(): Promise<void>
}

/** What the pages said of the list. */
export interface Report {
  /** How many records there were when the first page was read; undefined where nobody says. */
  total?: number
}

/** Rows without `TotalRows` after which a list is taken to be endless. */
const mostRows = 5_000_000

/** How many rows of a page are read again with the next one. */
const overlapOf = (rows: number) => Math.min(Math.ceil(rows / 20), 100, rows - 1)

/**
 * The records of a list, some of them perhaps twice. Each page begins within the one before, so that rows which move between two
 * calls are not passed over: where pages do not join, or repeat, or never end, or have not as many rows as they say, it is 502.
 * A server that does not page, and sends everything at once, is read as it sends.
 */
export async function* pagesOf(client: Client, paged: Paged, report: Report = {}): AsyncGenerator<Xml[], void> {
  const { pageRows } = client.limits
  const fault = (reason: string) => {
    client.connection.log?.warn({ list: paged.path.join('/'), reason }, 'The pages of a list cannot be right.')
    return new ApiError('back_office_error')
  }
  let counted = 0
  let last: string[] = []
  for (let start = 1; ; ) {
    const query = { ...paged.query, startRow: start, pageRows }
    await paged.beforePage?.()
    const { root, records } = await client.list({ ...paged, query, size: 'page', mayBeEmpty: start > 1 })
    const total = wholeIn(root?.attributes.TotalRows) ?? undefined
    if (start === 1 && total !== undefined) report.total = total
    const first = report.total

    const known = new Set(last)
    let tail: string[] = []
    let joins = last.length === 0
    let rows = 0
    let some: Xml[] = []
    for await (const record of records) {
      rows++
      const key = paged.keyOf(record)
      tail.push(key)
      if (tail.length > 2 * pageRows) tail = tail.slice(-pageRows)
      if (known.has(key)) joins = true
      else {
        counted++
        some.push(record)
      }
      // Only a server that does not page sends more than it was asked for.
      if (some.length > pageRows) {
        yield some
        some = []
      }
    }
    tail = tail.slice(tail.length - overlapOf(rows))
    const repeats = tail.length > 0 && tail.join() === last.join()
    const reached = start - 1 + rows
    const isEnd =
      rows === 0 || (total !== undefined ? reached === total : start === 1 ? rows !== pageRows : rows < pageRows)
    if (!joins && rows > 0) throw fault('two pages do not join')
    if (total !== undefined && reached > total) throw fault('there are more rows than there should be')
    if (repeats && !isEnd) {
      // Without a total it may just be a server that does not page, and has exactly as many rows as a page.
      if (total === undefined) return
      throw fault('a page repeats the one before')
    }
    if (some.length) yield some

    if (isEnd) {
      if (counted < (first ?? 0)) throw fault('there are fewer rows than there should be')
      return
    }
    if (counted > (first === undefined ? mostRows : 2 * first + 10_000)) throw fault('the list does not end')
    last = tail
    start = reached - tail.length + 1
  }
}
