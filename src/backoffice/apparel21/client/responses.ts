import type { IncomingHttpHeaders } from 'node:http'
import { parseRetryAfterMs } from '../../../http-client/retry-after.ts'
import { readDocument } from '../xml/xml.ts'
import { Failure } from './failure.ts'
import { noData, parseRetailApiError, RetailApiError } from './retail-api-error.ts'
import type { HttpResponse } from './transport.ts'

/** Milliseconds without calls after the credentials were rejected, because repeated attempts can lock the account. */
const deniedBackoffMs = 60_000
const maxErrorBytes = 64 * 1024

/**
 * Checks the status of a response, and reads the body of an error.
 * Throws `RetailApiError` for an `<AP21Error>` and for a 404 without a body.
 * Throws `Failure` if the response doesn't come from the Retail API, or if it is a 5xx to a write, which may have been applied.
 */
export async function checkResponse(response: HttpResponse, isWrite: boolean): Promise<void> {
  const { status, headers } = response
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400) {
    response.discard()
    throw new Failure('unreadable', 'The response is a redirect.', { status })
  }
  const body = await readBeginning(response)
  const root = status === 401 ? undefined : await findErrorRoot(body)
  if (root) {
    const error = parseRetailApiError(status, root)
    if (!isWrite || status < 500) throw error
    throw new Failure('crashed', `The response has status ${status} and code ${error.code}.`, { status })
  }
  if (status === 404 && body.length === 0) throw new RetailApiError(status, noData, '')
  throw toStatusFailure(status, headers)
}

function toStatusFailure(status: number, headers: IncomingHttpHeaders) {
  const message = `The response has status ${status}.`
  if (status === 401)
    return new Failure('denied', 'The back office rejected the credentials.', { waitMs: deniedBackoffMs, status })
  if (status === 429 || status === 503)
    return new Failure('busy', message, { waitMs: getRetryAfterMs(headers), status })
  if (status === 502 || status === 504) return new Failure('gateway', message, { status })
  return new Failure(status >= 500 ? 'crashed' : 'unreadable', message, { status })
}

/** Upper bound of a `Retry-After`: a day, or a date in a wrong year, can be the mistake of a proxy. */
const maxRetryAfterMs = 5 * 60_000

function getRetryAfterMs(headers: IncomingHttpHeaders) {
  const ms = parseRetryAfterMs(headers['retry-after'])
  return ms === undefined ? undefined : Math.min(ms, maxRetryAfterMs)
}

async function readBeginning({ body }: HttpResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxErrorBytes) break
  }
  return Buffer.concat(chunks)
}

/** True if the response to a write is a web page, for example of a proxy. Such a page doesn't prove that the write was applied. */
export async function isHtmlPage(response: HttpResponse): Promise<boolean> {
  if (!/^text\/html\b/i.test(response.headers['content-type'] ?? '')) return false
  return (await readBeginning(response)).toString().trim() !== ''
}

/** Throws `Failure` if the body is compressed, although the request doesn't accept compression. */
export function requireUncompressed({ headers, discard }: HttpResponse) {
  if (/^(identity)?$/i.test(headers['content-encoding'] ?? '')) return
  discard()
  throw new Failure('unreadable', 'The response is compressed, although the request did not accept compression.')
}

/** Returns the root of an `<AP21Error>`, whose name is not case-sensitive. Returns undefined for any other body. */
async function findErrorRoot(body: Buffer) {
  const [, root] = /^[^<]*(?:<\?[^>]*\?>\s*)?<(ap21error)[\s/>]/i.exec(body.toString('utf8', 0, 1_000)) ?? []
  if (root === undefined) return
  try {
    return await readDocument(toAsyncIterable(body), [root])
  } catch {
    return
  }
}

async function* toAsyncIterable(body: Buffer) {
  yield body
}
