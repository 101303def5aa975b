import type { Problem } from '../shapes/general.ts'
import { createError } from './errors.ts'
import { type Body, readRecords } from './ndjson.ts'
import { parseRetryAfter } from './retry.ts'

/** The part of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    method: string
    headers: Record<string, string>
    body?: string
    signal: AbortSignal
    redirect: 'manual'
  },
) => Promise<{
  status: number
  headers: { get(name: string): string | null }
  text(): Promise<string>
  /** Needed for exports only. */
  body?: unknown
}>

/** A request, the same in every attempt. */
export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path with its query. */
  path: string
  headers: Record<string, string>
  body?: string
}

export interface HttpResponse {
  status: number
  header(name: string): string | null
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows its schema
  json: any
  /** The records of an NDJSON response. */
  records?: AsyncGenerator<unknown>
}

/** Sends a request once. Returns the response of any status. Throws `no_response` or `certificate_rejected`, or the signal's reason. */
export async function sendOnce(
  fetch: Fetch,
  url: string,
  request: Request,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<HttpResponse> {
  signal?.throwIfAborted()
  const { method, headers, body } = request
  const end = new AbortController()
  const abort = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(() => end.abort(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? undefined : { body }),
      signal: end.signal,
      redirect: 'manual',
    })
    const type = response.headers.get('content-type') ?? ''
    const common = { status: response.status, header: (name: string) => response.headers.get(name) }
    if (/\bx-ndjson\b/.test(type) && response.body)
      return { ...common, json: undefined, records: readRecords(response.body as Body, { timeoutMs, signal, end }) }
    const text = await response.text()
    const isJson = /\bjson\b/.test(type)
    return {
      ...common,
      json: isJson && text ? JSON.parse(text) : undefined,
    }
  } catch (cause) {
    signal?.throwIfAborted()
    throw createError(isCertificateError(cause) ? 'certificate_rejected' : 'no_response', undefined, { cause })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** True if the certificate was rejected. A retry doesn't help. Each runtime has its own message. */
function isCertificateError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return /certificate|CERT|VERIFY|CONSTRAINT/.test(`${code} ${error.message}`) || isCertificateError(error.cause)
}

/** Returns the error of a response, or undefined if it is a success. */
export function findError({ status, header, json, records }: HttpResponse, idempotencyKey: string | undefined) {
  if (status === 204 || status === 304 || (status >= 200 && status < 300 && (json || records))) return
  const problem: Problem | undefined = typeof json?.code === 'string' ? json : undefined
  const retryAfter = parseRetryAfter(header('retry-after'))
  return createError(problem?.code ?? 'unexpected_response', status, { problem, retryAfter, idempotencyKey })
}
