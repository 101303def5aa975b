import { errorOf, TillbridgeError } from './errors.ts'
import { type Answer, exchange, type Fetch, type Request, refusalIn } from './exchange.ts'
import { delay, verdictOn, waitBefore } from './patience.ts'
import { pausesOfPolicies } from './pauses.ts'

/** How a service is reached. */
export interface Connection {
  /** Where it is: `https://api.example.com`. */
  url: string
  /** The API key of the account: base64 of username and password. */
  apiKey: string
  /** The service to act on, one of the account's. */
  service: string
  /** What sends requests; the runtime's own `fetch` unless told otherwise. */
  fetch?: Fetch | undefined
  /** How long one try may take; 30 s unless told otherwise. */
  timeoutMs?: number | undefined
  /** How long a call goes on trying while nothing was done; 60 s unless told otherwise. */
  patienceMs?: number | undefined
  /** How long a write goes on finding out whether it was done; 120 s unless told otherwise. */
  settleMs?: number | undefined
}

/** How long one call is gone on with, and what ends it. */
export interface Endurance {
  signal?: AbortSignal | undefined
  patienceMs?: number | undefined
  settleMs?: number | undefined
}

export type Send = (request: Request, endurance: Endurance) => Promise<Answer>

/**
 * Sends until there is an answer that stands. All tries of a write are one request with one key, so that it is done once; a write
 * without a key is one that a repeat leaves as it is.
 */
export function transportOf(connection: Connection): Send {
  const { url, apiKey, service, timeoutMs = 30_000 } = connection
  const fetch = connection.fetch ?? ((target, init) => globalThis.fetch(target, init))
  const origin = url.replace(/\/+$/, '')
  const own = { authorization: `Basic ${apiKey}`, 'x-service-name': service, accept: 'application/json' }
  const pauses = pausesOfPolicies()

  return async (request, endurance) => {
    const { signal, patienceMs = connection.patienceMs ?? 60_000 } = endurance
    const { settleMs = connection.settleMs ?? 120_000 } = endurance
    const whole = { ...request, headers: { ...own, ...request.headers } }
    // What cannot be sent is told at once: `fetch` says no more of it than of a network that is down.
    new Headers(whole.headers)
    const begun = Date.now()
    let isUnknown = false
    for (let tries = 0; ; tries++) {
      const pauseMs = pauses.before(request)
      if (pauseMs > 0 && Date.now() + pauseMs <= begun + patienceMs) await delay(pauseMs, signal)
      const found = await attempt(whole, signal)
      if (!(found instanceof TillbridgeError)) return found
      const verdict = verdictOn(found.code, found.status)
      if (verdict === 'final') throw isUnknown && leavesOpen(request, found) ? unknown(request, found) : found
      if (verdict === 'settle' && request.method !== 'GET') isUnknown = true
      const waitMs = waitBefore(tries, found.retryAfter)
      const until = begun + (isUnknown ? Math.max(settleMs, patienceMs) : patienceMs)
      if (Date.now() + waitMs > until) throw isUnknown ? unknown(request, found) : found
      await delay(waitMs, signal)
    }
  }

  /** One try. What it fails with is judged; what ends it is thrown. */
  async function attempt(request: Request, signal: AbortSignal | undefined): Promise<Answer | TillbridgeError> {
    try {
      const answer = await exchange(fetch, origin + request.path, request, timeoutMs, signal)
      pauses.heed(request, answer)
      return refusalIn(answer, keyOf(request)) ?? answer
    } catch (error) {
      if (error instanceof TillbridgeError) return error
      throw error
    }
  }
}

const keyOf = ({ headers }: Request) => headers['idempotency-key']

const unknown = (request: Request, cause: TillbridgeError) =>
  errorOf('outcome_unknown', undefined, { cause, idempotencyKey: keyOf(request), retryAfter: cause.retryAfter })

/** Whether a refusal leaves open what became of an earlier try. */
function leavesOpen({ method }: Request, { code, status = 0 }: TillbridgeError): boolean {
  // That the record has changed, or gone, may be our own doing.
  if (status === 412 || (method === 'DELETE' && status === 404)) return true
  // The key was not looked at, or not to the end.
  return status >= 500 || status === 401 || status === 429 || besideTheWrite.has(code)
}

const besideTheWrite: ReadonlySet<string> = new Set([
  'odd_answer',
  'certificate_refused',
  'service_not_assigned',
  'insufficient_role',
])
