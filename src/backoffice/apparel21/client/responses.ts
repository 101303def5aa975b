import type { IncomingHttpHeaders } from 'node:http'
import { retryAfterMs } from '../../../http-client/retry-after.ts'
import { readDocument } from '../xml/xml.ts'
import type { Incoming } from './exchange.ts'
import { Failure } from './failure.ts'
import { noData, Refusal, refusalIn } from './rejection.ts'

/** Milliseconds without a call after the credentials were refused: an account may be locked for asking on. */
const deniedMs = 60_000
/** An error answer has a page or a few lines. */
const mostErrorBytes = 64 * 1024

/**
 * Looks at an answer's head, and at its body where it is an error. Throws the `Refusal` of an `AP21Error`, and of a bare 404, and a
 * `Failure` where the answer is none of this system, or is a 5xx to a write, which may have been carried out before.
 */
export async function judge(incoming: Incoming, isWrite: boolean): Promise<void> {
  const { status, headers } = incoming
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400) {
    incoming.discard()
    throw new Failure('unreadable', 'The answer sends somewhere else.', { status })
  }
  const body = await beginning(incoming)
  const root = status === 401 ? undefined : await errorRoot(body)
  if (root) {
    const refusal = refusalIn(status, root)
    if (!isWrite || status < 500) throw refusal
    throw new Failure('crashed', `The answer has status ${status} and code ${refusal.code}.`, { status })
  }
  if (status === 404 && body.length === 0) throw new Refusal(status, noData, '')
  throw failureOf(status, headers)
}

function failureOf(status: number, headers: IncomingHttpHeaders) {
  const message = `The answer has status ${status}.`
  if (status === 401)
    return new Failure('denied', 'The back office does not accept the credentials.', { waitMs: deniedMs, status })
  if (status === 429 || status === 503) return new Failure('busy', message, { waitMs: restMs(headers), status })
  if (status === 502 || status === 504) return new Failure('gateway', message, { status })
  return new Failure(status >= 500 ? 'crashed' : 'unreadable', message, { status })
}

/** Whatever is asked for, it is tried again after so long: a day, or a date in the wrong year, may be a proxy's slip. */
const longestRestMs = 5 * 60_000

function restMs(headers: IncomingHttpHeaders) {
  const ms = retryAfterMs(headers['retry-after'])
  return ms === undefined ? undefined : Math.min(ms, longestRestMs)
}

async function beginning({ body }: Incoming): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size > mostErrorBytes) break
  }
  return Buffer.concat(parts)
}

/** Whether what should be the answer to a write is a web page, as a proxy in between has them: it says nothing of the write. */
export async function isPage(incoming: Incoming): Promise<boolean> {
  if (!/^text\/html\b/i.test(incoming.headers['content-type'] ?? '')) return false
  return (await beginning(incoming)).toString().trim() !== ''
}

/** Throws where a body has been compressed, which nobody asked for. */
export function requirePlain({ headers, discard }: Incoming) {
  if (/^(identity)?$/i.test(headers['content-encoding'] ?? '')) return
  discard()
  throw new Failure('unreadable', 'The answer is compressed.')
}

/** The root of an `AP21Error`, whatever the case of its letters; undefined for a page, or anything else. */
async function errorRoot(body: Buffer) {
  const [, root] = /^[^<]*(?:<\?[^>]*\?>\s*)?<(ap21error)[\s/>]/i.exec(body.toString('utf8', 0, 1_000)) ?? []
  if (root === undefined) return
  try {
    return await readDocument(one(body), [root])
  } catch {
    return
  }
}

async function* one(body: Buffer) {
  yield body
}
