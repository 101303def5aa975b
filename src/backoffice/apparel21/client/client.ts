/**
 * Sends requests to one Retail API of Apparel21 and parses its XML responses.
 * Pattern: a pipeline of stages (circuit breaker, `Retry-After`, bulkhead) around one HTTP attempt.
 * Guarantees: reads are retried at most once, within a budget. Writes are never retried. Every error is an `ApiError`.
 * Start in calls.ts. Reasons: docs/reference/apparel21-calls.md.
 */

import { type ExpectedDocument, type RecordList, readDocument, readRecords, type Xml, XmlError } from '../xml/xml.ts'
import { createCalls } from './calls.ts'
import type { Connection, Limits } from './connection.ts'
import { convertFailure, convertXmlError, Failure } from './failure.ts'
import { type CalculationRequest, parseLocationId, type RetailRequest, type WriteRequest } from './request.ts'
import { requireUncompressed } from './responses.ts'
import type { Call, OnEnd } from './stages.ts'

/**
 * The client of one Retail API. All methods throw `ApiError`.
 * - 503 `back_office_unavailable`: the back office is unreachable, too slow or in a cool-down.
 * - 502 `back_office_error`: the response is invalid.
 * - 504 `outcome_unknown`: a write may have been applied.
 * - The error of errors.ts: the Retail API rejects the request. `cause` is the `RetailApiError`.
 */
export interface Client {
  readonly connection: Connection
  readonly limits: Limits
  /** Returns the root of a document. Returns undefined if the back office has no such data. */
  document(request: (RetailRequest | CalculationRequest) & ExpectedDocument): Promise<Xml | undefined>
  /**
   * Returns the records of a list while they arrive. `root` is undefined if there is no such data, or if the body is empty and
   * `mayBeEmpty` is set. An error in the first records makes the call retry; an error in later records ends the iteration.
   */
  list(request: RetailRequest & ExpectedDocument & { mayBeEmpty?: boolean }): Promise<RecordList>
  /** Returns the HTML of the root page. Returns an empty string if there is no page. */
  page(signal?: AbortSignal): Promise<string>
  /** Sends a write. `id` is the identifier at the end of the `Location` header, if the response has one. */
  write(request: WriteRequest): Promise<{ status: number; id: string | undefined }>
  /** Sends a write and returns the root of its response. Throws `outcome_unknown` if the response can't be read. */
  writeForDocument(request: WriteRequest & ExpectedDocument): Promise<Xml>
  close(): void
}

const maxPageCharacters = 1024 ** 2

export function createClient(connection: Connection): Client {
  const { limits, read, write, close } = createCalls(connection)
  return {
    connection,
    limits,
    document: request =>
      read(request, async call => {
        if (!call) return
        requireUncompressed(call.response)
        const root = await readDocument(call.response.body, request.roots)
        if (!root) throw new XmlError('The response is empty.')
        return finishWith(call, root)
      }),
    list: request =>
      read(request, async call => {
        if (!call) return { root: undefined, records: toRecords([]) }
        requireUncompressed(call.response)
        const { body, bufferRest } = createBufferedBody(call.response.body)
        const { root, records } = await readRecords(body, request)
        if (!root && !request.mayBeEmpty) throw new XmlError('The response is empty.')
        const maxFirst = request.size === 'bulk' ? 1 : 2 * limits.pageRows
        const first: Xml[] = []
        while (first.length < maxFirst) {
          const { value, done } = await records.next()
          if (done) return finishWith(call, { root, records: toRecords(first) })
          first.push(value)
        }
        if (request.size === 'bulk') return { root, records: yieldRemaining(first, records, call.finish) }
        // The server doesn't paginate, so this page is the complete list. Download it now and release the permit: the consumer
        // may send other requests between two records, which would wait for this permit forever.
        await bufferRest()
        const remaining = yieldRemaining(first, records, error => {
          const reason = error instanceof Failure && error.message
          if (reason) connection.log?.warn({ list: request.path.join('/'), fault: reason }, 'list response truncated')
        })
        return finishWith(call, { root, records: remaining })
      }),
    page: signal =>
      read({ endpoint: 'stores', path: [], ...(signal && { signal }) }, async call => {
        if (!call) return ''
        requireUncompressed(call.response)
        const decoder = new TextDecoder()
        let html = ''
        for await (const chunk of call.response.body) {
          html += decoder.decode(chunk, { stream: true })
          if (html.length > maxPageCharacters)
            throw new Failure('unreadable', `The root page has more than ${maxPageCharacters} characters.`)
        }
        return finishWith(call, html)
      }),
    async write(request) {
      const { status, headers } = await write(request)
      return { status, id: parseLocationId(headers.location) }
    },
    writeForDocument: request =>
      write(request, async response => {
        requireUncompressed(response)
        const root = await readDocument(response.body, request.roots)
        if (!root) throw new XmlError('The response is empty.')
        return root
      }),
    close,
  }
}

function finishWith<T>(call: Call, value: T): T {
  call.finish()
  return value
}

async function* toRecords(records: readonly Xml[]): AsyncGenerator<Xml, void> {
  yield* records
}

/** Wraps a body so that its remainder can be downloaded at any time with `bufferRest`. The reader continues from the buffer. */
function createBufferedBody(body: AsyncIterable<Uint8Array>) {
  const source = body[Symbol.asyncIterator]()
  const buffer: Uint8Array[] = []
  async function* read(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const buffered = buffer.shift()
        const { value, done } = buffered ? { value: buffered } : await source.next()
        if (done) return
        yield value
      }
    } finally {
      await source.return?.()
    }
  }
  const bufferRest = async () => {
    for (let next = await source.next(); !next.done; next = await source.next()) buffer.push(next.value)
  }
  return { body: read(), bufferRest }
}

/** Yields the records that have been read, then those that are still arriving. Reports the end to `onEnd`. */
async function* yieldRemaining(
  first: readonly Xml[],
  records: AsyncGenerator<Xml>,
  onEnd: OnEnd,
): AsyncGenerator<Xml, void> {
  try {
    yield* first
    yield* records
  } catch (error) {
    const converted = convertXmlError(error)
    onEnd(converted)
    throw converted instanceof Failure ? convertFailure(converted, false) : error
  } finally {
    await records.return(undefined)
    onEnd()
  }
}
