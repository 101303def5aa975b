import type { CircuitBreaker } from '../../../http-client/circuit-breaker.ts'
import type { Attempt } from './attempt.ts'
import type { Incoming } from './exchange.ts'
import { Failure, isOutage } from './failure.ts'
import type { Asking, Writing } from './request.ts'

/** Something that each call passes before it goes out: it may keep it back, by throwing, or have it wait. What it returns hears how the call ended. */
export type Stage = (asked: Asking | Writing, signal: AbortSignal) => End | Promise<End>

/** `error`: a `Failure` or a `Refusal` that the call came to; undefined where all is well. */
export type End = (error?: unknown) => void

/** A call under way: the head of a good answer has come. */
export interface Call {
  incoming: Incoming
  /** Says how it ended; the first time counts. */
  settle: End
}

/** Has each call pass the stages, in their order, before it is attempted; they hear of its end in the opposite order. */
export const through =
  (stages: readonly Stage[], attempt: Attempt) =>
  async (asked: Asking | Writing, signal: AbortSignal): Promise<Call> => {
    const ends: End[] = []
    const settle: End = error => {
      signal.removeEventListener('abort', giveUp)
      for (const end of ends.splice(0).reverse()) end(error)
    }
    const giveUp = () => settle(new Failure('lost', 'The answer did not end in time.'))
    try {
      for (const stage of stages) ends.push(await stage(asked, signal))
      const incoming = await attempt(asked, signal)
      // However its answer is left, it is over at its deadline.
      signal.addEventListener('abort', giveUp, { once: true })
      return { incoming, settle }
    } catch (error) {
      settle(error)
      throw error
    }
  }

/** Rejects calls while the circuit breaker is open, and reports how the others end. Rejected credentials open it at once. */
export const guardedBy =
  (breaker: CircuitBreaker, maxOpenMs: number): Stage =>
  ({ signal }) => {
    const waitMs = breaker.enter()
    if (waitMs > 0) throw new Failure('closed', 'The circuit breaker is open.', { waitMs })
    return error => {
      const failure = error instanceof Failure ? error : undefined
      if (failure?.kind === 'denied') breaker.open(failure.waitMs ?? maxOpenMs)
      else if (failure?.kind === 'closed' || signal?.aborted) breaker.onIgnored()
      else if (failure && isOutage(failure)) breaker.onFailure()
      else breaker.onSuccess()
    }
  }
