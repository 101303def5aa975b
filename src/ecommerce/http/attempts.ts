import { setTimeout as delay } from 'node:timers/promises'
import { withJitter } from '../../concurrency/backoff.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import { type CircuitBreaker, createCircuitBreaker } from '../../http-client/circuit-breaker.ts'
import { parseRetryAfterMs } from '../../http-client/retry-after.ts'
import type { CallLog } from '../port/platform.ts'
import { type Exchange, exchange, type JsonResponse } from './exchange.ts'

/** A transient failure: a call that can run twice is repeated. */
export class TransientFailure extends PlatformFailure {
  /** Milliseconds until the next attempt. Undefined: as the retry schedule says. */
  readonly waitMs: number | undefined

  constructor(message: string, waitMs?: number) {
    super('unavailable', message)
    this.waitMs = waitMs
  }
}

/** The circuit breakers of this process, one for each shop. Repeated failures end the calls until one probe succeeds. */
const breakers = new Map<string, CircuitBreaker>()

function getBreaker(origin: string): CircuitBreaker {
  const breaker =
    breakers.get(origin) ?? createCircuitBreaker({ failureThreshold: 5, openMs: 2_000, maxOpenMs: 60_000 })
  breakers.set(origin, breaker)
  return breaker
}

/** Sends a request once, behind the circuit breaker of its shop. Throws `TransientFailure` if no response arrives or the breaker is open. */
export async function exchangeGuarded(request: Exchange): Promise<JsonResponse> {
  const breaker = getBreaker(request.url.origin)
  const waitMs = breaker.enter()
  if (waitMs > 0) throw new TransientFailure('The circuit breaker is open.', waitMs)
  const response = await exchange(request).catch(error => {
    if (!(error instanceof PlatformFailure)) {
      breaker.onIgnored()
      throw error
    }
    breaker.onFailure()
    throw new TransientFailure(error.message)
  })
  if (response.status >= 500) breaker.onFailure()
  else breaker.onSuccess()
  return response
}

/** Throws `TransientFailure` if a status says that the platform is busy or unavailable. */
export function checkAvailability({ status, headers }: JsonResponse): void {
  if (status === 429)
    throw new TransientFailure(
      'The platform limits requests.',
      parseRetryAfterMs(headers.get('retry-after') ?? undefined),
    )
  if (status >= 500) throw new TransientFailure(`The platform returned status ${status}.`)
}

/** Milliseconds before each further attempt. */
const retryDelaysMs = [500, 2_000, 5_000, 15_000]

/** Runs an attempt, and repeats it while it throws `TransientFailure`, at most four times. `facts` name the call in the log. */
export async function retryTransient<T>(
  attempt: () => Promise<T>,
  { facts, log, signal }: { facts: object; log: CallLog; signal: AbortSignal },
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      const delayMs = retryDelaysMs[retry]
      if (!(error instanceof TransientFailure) || delayMs === undefined) throw error
      log.warn({ ...facts, detail: error.message }, 'platform call failed, will retry')
      await delay(withJitter(error.waitMs ?? delayMs), undefined, { signal })
    }
  }
}
