import { setTimeout as delay } from 'node:timers/promises'
import type { CircuitBreaker } from '../../../http-client/circuit-breaker.ts'
import { getCurrentContext } from '../../../telemetry/current-context.ts'
import type { Attempt } from './attempt.ts'
import type { Connection } from './connection.ts'
import { Failure, isOutage } from './failure.ts'
import { buildUrl, type RetailRequest, type WriteRequest } from './request.ts'
import { noData, RetailApiError } from './retail-api-error.ts'
import type { HttpResponse } from './transport.ts'

/**
 * A stage that each call passes before its request is sent. A stage can delay the call, or reject it by throwing.
 * The returned function is called when the call ends. `signal` is the deadline combined with the caller's own signal, `request.signal`.
 */
export type Stage = (request: RetailRequest | WriteRequest, signal: AbortSignal) => OnEnd | Promise<OnEnd>

/** Called at the end of a call. `error` is a `Failure` or a `RetailApiError`, and undefined if the call succeeded. */
export type OnEnd = (error?: unknown) => void

/** A call in flight. The headers of a successful response have arrived. */
export interface Call {
  response: HttpResponse
  /** Ends the call. Only the first invocation counts. */
  finish: OnEnd
}

/** Creates a function that passes each call through the stages in order, then attempts it. Stages are notified of the end in reverse order. */
export const createPipeline =
  (stages: readonly Stage[], attempt: Attempt) =>
  async (request: RetailRequest | WriteRequest, signal: AbortSignal): Promise<Call> => {
    const onEnds: OnEnd[] = []
    const finish: OnEnd = error => {
      signal.removeEventListener('abort', onAbort)
      for (const onEnd of onEnds.splice(0).reverse()) onEnd(error)
    }
    const onAbort = () => finish(new Failure('lost', 'The response did not end before the deadline.'))
    try {
      for (const stage of stages) onEnds.push(await stage(request, signal))
      const response = await attempt(request, signal)
      // If a consumer abandons the body, it never calls `finish`. The deadline then ends the call.
      signal.addEventListener('abort', onAbort, { once: true })
      return { response, finish }
    } catch (error) {
      finish(error)
      throw error
    }
  }

/** Rejects calls while the circuit breaker is open. Reports the outcome of the others to it. Rejected credentials open it immediately. */
export const guardWithCircuitBreaker =
  (breaker: CircuitBreaker, maxOpenMs: number): Stage =>
  ({ signal: callerSignal }) => {
    const waitMs = breaker.enter()
    if (waitMs > 0) throw new Failure('closed', 'The circuit breaker is open.', { waitMs })
    return error => {
      const failure = error instanceof Failure ? error : undefined
      if (failure?.type === 'denied') breaker.open(failure.waitMs ?? maxOpenMs)
      // A call that was not sent, or that its caller aborted, says nothing about the back office.
      else if (failure?.type === 'closed' || callerSignal?.aborted) breaker.onIgnored()
      else if (failure && isOutage(failure)) breaker.onFailure()
      else breaker.onSuccess()
    }
  }

/** Logs failed and rejected calls, without personal data and secrets. */
export const logFailures =
  (connection: Connection): Stage =>
  request =>
  error => {
    const { requestId } = getCurrentContext()
    const warn = (facts: object, message: string) => {
      const method = 'method' in request ? request.method : 'GET'
      const call = `${method} ${buildUrl(connection, request).masked}`
      connection.log?.warn({ ...(requestId !== undefined && { requestId }), call, ...facts }, message)
    }
    if (error instanceof Failure) warn(toLogFields(error), 'back-office call failed')
    else if (error instanceof RetailApiError && error.code !== noData)
      warn({ status: error.status, code: error.code }, 'back-office call rejected')
  }

function toLogFields({ message, type, cause }: Failure) {
  const { code } = (cause ?? {}) as { code?: unknown }
  return { fault: message, kind: type, ...(typeof code === 'string' && { cause: code }) }
}

/** Delays calls until the `Retry-After` of the last busy response is over. Rejects calls that would wait longer than `maxWaitMs`. */
export function obeyRetryAfter(maxWaitMs: number): Stage {
  let until = 0
  return async (_, signal) => {
    const waitMs = until - performance.now()
    if (waitMs > maxWaitMs) throw new Failure('closed', 'The back office is in a Retry-After cool-down.', { waitMs })
    if (waitMs > 0) await pause(waitMs, signal)
    return error => {
      if (error instanceof Failure && error.type === 'busy' && error.waitMs)
        until = Math.max(until, performance.now() + error.waitMs)
    }
  }
}

/** Waits for `ms` plus a jitter of up to 20 % and 50 ms, so that waiting calls don't resume at the same time. Throws `Failure` if aborted. */
export const pause = (ms: number, signal: AbortSignal) =>
  delay(ms + Math.random() * (50 + ms / 5), undefined, { signal }).catch(() => {
    throw new Failure('closed', 'The deadline passed before the request could be sent.')
  })

/** Reports whether the back office accepts the user and password: after the first call, and after each change. */
export function reportCredentials(onCredentials: Connection['onCredentials']): Stage {
  let reported: 'accepted' | 'rejected' | undefined
  const report = (state: 'accepted' | 'rejected') => {
    if (reported === state) return
    reported = state
    onCredentials?.(state)
  }
  return ({ path }) =>
    error => {
      if (error instanceof Failure && error.type === 'denied') report('rejected')
      // The root page needs no credentials.
      else if (!(error instanceof Failure) && path.length) report('accepted')
    }
}
