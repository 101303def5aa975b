import type { Problem } from '../shapes/general.ts'
import { errorOf } from './errors.ts'
import { type Body, recordsIn } from './lines.ts'
import { retryAfterOf } from './patience.ts'

/** As much of `fetch` as is needed. */
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
  /** Needed for whole lists alone. */
  body?: unknown
}>

/** What is sent, the same in every try. */
export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With its query. */
  path: string
  headers: Record<string, string>
  body?: string
}

export interface Answer {
  status: number
  header(name: string): string | null
  // biome-ignore lint/suspicious/noExplicitAny: its shape is known by whoever asked
  json: any
  /** What comes a record a line. */
  records?: AsyncGenerator<unknown>
}

/** One try: an answer, whatever its status, or an error with the code `no_answer`. The signal ends it, and is what it ends with. */
export async function exchange(
  fetch: Fetch,
  url: string,
  request: Request,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  signal?.throwIfAborted()
  const { method, headers, body } = request
  const end = new AbortController()
  const giveUp = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', giveUp, { once: true })
  const timer = setTimeout(() => end.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    const answer = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? undefined : { body }),
      signal: end.signal,
      redirect: 'manual',
    })
    const type = answer.headers.get('content-type') ?? ''
    const told = { status: answer.status, header: (name: string) => answer.headers.get(name) }
    if (/\bx-ndjson\b/.test(type) && answer.body)
      return { ...told, json: undefined, records: recordsIn(answer.body as Body, { timeoutMs, signal, end }) }
    const text = await answer.text()
    const isJson = /\bjson\b/.test(type)
    return {
      ...told,
      json: isJson && text ? JSON.parse(text) : undefined,
    }
  } catch (cause) {
    signal?.throwIfAborted()
    throw errorOf(isOfCertificate(cause) ? 'certificate_refused' : 'no_answer', undefined, { cause })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Whether the service was not believed to be itself, which no repeat changes. Each runtime has its own words for it. */
function isOfCertificate(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return /certificate|CERT|VERIFY|CONSTRAINT/.test(`${code} ${error.message}`) || isOfCertificate(error.cause)
}

/** The error of an answer that is not what was asked for; undefined where it is. */
export function refusalIn({ status, header, json, records }: Answer, idempotencyKey: string | undefined) {
  if (status === 204 || status === 304 || (status >= 200 && status < 300 && (json || records))) return
  const problem: Problem | undefined = typeof json?.code === 'string' ? json : undefined
  const retryAfter = retryAfterOf(header('retry-after'))
  return errorOf(problem?.code ?? 'odd_answer', status, { problem, retryAfter, idempotencyKey })
}
