/**
 * Calls the API through the published client, at any of several processes that can die at any moment.
 * `toOutcome` turns one call into a value; `reconcile` repeats a call until its result is known.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Agent, request } from 'undici'
import {
  type Connection,
  type Fetch,
  responseMeta,
  type Tillbridge,
  TillbridgeError,
  tillbridge,
} from '../../../client/src/index.ts'
import type { Random } from '../../../seed/random.ts'

export type Credentials = Pick<Connection, 'apiKey' | 'service'>

/** Builds the API key of an account, as a client sends it. */
export const toApiKey = (username: string, password: string) =>
  Buffer.from(`${username}:${password}`).toString('base64')

/** Makes `fetch` trust a certificate authority; its file is PEM. */
export function trustCertificate(caFile: string) {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(caFile, 'utf8')])
}

/** The address for requests: a process that starts has no URL yet. */
export type Target = Readonly<{ baseUrl: string }>

/** Opens a connection if all are in use, and keeps all connections open, so that each client of a crowd has its own. */
const agent = new Agent()

/** A `fetch` with less overhead than the standard one, because the clients share the machine with the tested processes. */
const lightFetch: Fetch = async (url, { redirect: _, ...init }) => {
  const { statusCode, headers, body } = await request(url, { ...init, dispatcher: agent } as Parameters<
    typeof request
  >[1])
  return {
    status: statusCode,
    headers: { get: name => String(headers[name] ?? '') || null },
    text: () => body.text(),
    body,
  }
}

/** Sends each attempt to one of the targets that are up, chosen at random. Throws if none is up. */
export const fetchFromAny =
  (targets: readonly Target[], random: Random): Fetch =>
  (url, init) => {
    const up = targets.filter(({ baseUrl }) => baseUrl)
    if (!up.length) throw new Error('no API process is up')
    const { pathname, search } = new URL(url)
    return lightFetch(random.pick(up).baseUrl + pathname + search, init)
  }

/** Opens a client that repeats nothing: each call is one attempt of at most `timeoutMs` (default 20 s). */
export const openClient = (
  targets: readonly Target[],
  credentials: Credentials,
  random: Random,
  options: Partial<Connection> = {},
): Tillbridge =>
  tillbridge({
    url: 'https://any-process.test',
    fetch: fetchFromAny(targets, random),
    timeoutMs: 20_000,
    retryTimeoutMs: 0,
    reconcileTimeoutMs: 0,
    ...credentials,
    ...options,
  })

/** The result of a call: `data` if it succeeded, `code` if it failed. */
export interface Outcome<T> {
  /** HTTP status of the last response; 0 if no response arrived. */
  status: number
  data?: T
  code?: string
  /** Why a voucher can't be used. */
  reason?: string | undefined
  retryAfter?: number | undefined
  /** True if the response is the stored one of an earlier attempt. */
  isReplay: boolean
}

/** Waits for a call and returns its outcome. Throws only errors that aren't the API's. */
export async function toOutcome<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    const data = await call
    const response = typeof data === 'object' && data ? responseMeta(data) : undefined
    return { status: response?.status ?? 200, data, isReplay: response?.replayed ?? false }
  } catch (error) {
    if (!(error instanceof TillbridgeError)) throw error
    // An unknown outcome has the last attempt's error as its cause.
    const { status = 0, code, retryAfter, problem } = error.cause instanceof TillbridgeError ? error.cause : error
    return { status, code, retryAfter, reason: problem?.reason, isReplay: false }
  }
}

/** True if a repeat can't change the outcome of a call. */
export const isFinal = ({ status, code }: Outcome<unknown>) =>
  status > 0 &&
  status < 500 &&
  status !== 408 &&
  status !== 429 &&
  code !== 'idempotency_in_progress' &&
  code !== 'concurrent_update'

/** The status of an operation that its client stopped repeating before it had a result. */
export const abandoned = 499

/** After this many milliseconds without a result, an operation counts as failed. */
const reconcileTimeoutMs = 90_000
/** Scenarios wait no longer than this for `Retry-After`. */
const maxRetryAfterMs = 1_500

export interface ReconcileOptions {
  random: Random
  /** Probability that the client stops after an attempt that left the result open. Default 0. */
  abandonChance?: number
  /** Receives the code of each attempt that left the result open. */
  onRetry?: (code: string) => void
}

/** Repeats a call until its outcome is known. Throws after 90 s, which counts as a failed check. */
export async function reconcile<T>(
  call: () => Promise<T>,
  { random, abandonChance = 0, onRetry = () => {} }: ReconcileOptions,
): Promise<Outcome<T>> {
  let last: Outcome<T> | undefined
  for (const end = performance.now() + reconcileTimeoutMs; performance.now() < end; ) {
    last = await toOutcome(call())
    if (isFinal(last)) return last
    onRetry(last.status ? `${last.status} ${last.code}` : 'no response')
    if (random.chance(abandonChance)) return { status: abandoned, isReplay: false }
    await delay(random.integer(0, Math.min((last.retryAfter ?? 0) * 1_000, maxRetryAfterMs)) + random.integer(20, 100))
  }
  throw new Error(
    `An operation has no result after ${reconcileTimeoutMs / 1_000} s; last response: ${last?.status} ${last?.code}.`,
  )
}

/** A request that the client can't or doesn't send, such as an invalid one. */
export interface RawRequest {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: object
  key?: string
}

/** Sends one request without the client. Throws if there is no response after `timeoutMs`. */
export async function sendRaw(
  send: Fetch,
  { apiKey, service }: Credentials,
  { method, path, body, key }: RawRequest,
  timeoutMs = 20_000,
) {
  const { status, text } = await send(`https://any-process.test${path}`, {
    method,
    headers: {
      authorization: `Basic ${apiKey}`,
      'x-service-name': service,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
  }).then(async response => ({ status: response.status, text: await response.text() }))
  return { status, text }
}
