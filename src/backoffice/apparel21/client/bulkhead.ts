import type { Rejection } from '../../../concurrency/fair-queue.ts'
import { type Semaphore, semaphore } from '../../../concurrency/semaphore.ts'
import type { Limits } from './connection.ts'
import { Failure } from './failure.ts'
import type { Stage } from './stages.ts'

/** Creates the limit of calls in flight to one back office, so that a slow back office doesn't use up all resources. */
export const createBulkhead = ({
  concurrency,
  maxWaiting,
  maxWaitMs,
}: Pick<Limits, 'concurrency' | 'maxWaiting' | 'maxWaitMs'>): Semaphore =>
  semaphore({
    permits: concurrency,
    maxWaiting,
    timeoutMs: maxWaitMs,
    toError: reason => new Failure('closed', waitErrors[reason], { waitMs: 1_000 }),
  })

const waitErrors: Record<Rejection, string> = {
  full: 'too many calls wait for the back office',
  timeout: 'the back office had no free call slot in time',
  aborted: 'the call was cancelled while it waited for a free call slot',
}

/** Lets each call wait for a permit of its bulkhead. The call gives the permit back when it ends. */
export const limitConcurrency =
  (selectBulkhead: (request: Parameters<Stage>[0]) => Semaphore): Stage =>
  (request, signal) =>
    selectBulkhead(request).acquire(signal)
