import { ignoreError } from '../../../telemetry/ignored-errors.ts'
import { XmlError } from '../xml/xml.ts'
import { Failure, isOutage } from './failure.ts'
import { pause } from './stages.ts'

/** Calls that earn one retry: retries must not double the load on a back office in trouble. */
const callsPerRetry = 10
/** Upper bound of the budget, in calls. */
const maxSavedCalls = 100
/** Budget of a new process, in calls. */
const initialSavedCalls = 30

interface RetryBudget {
  /** Counts a call that is not a retry. */
  earn(): void
  /** Takes one retry out of the budget. Returns false if the budget is exhausted. */
  spend(): boolean
}

/** Creates a budget that limits retries to a tenth of all calls over time. */
export function createRetryBudget(): RetryBudget {
  let savedCalls = initialSavedCalls
  return {
    earn() {
      savedCalls = Math.min(maxSavedCalls, savedCalls + 1)
    },
    spend() {
      if (savedCalls < callsPerRetry) return false
      savedCalls -= callsPerRetry
      return true
    },
  }
}

interface RetryOptions {
  budget: RetryBudget
  /** The longest wait before the retry, in milliseconds. */
  maxRetryWaitMs: number
  signal: AbortSignal
}

/** Runs `work`, and once more if a retry can help and the budget permits it. */
export async function retryOnce<T>(
  work: () => Promise<T>,
  { budget, maxRetryWaitMs, signal }: RetryOptions,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const canRetry = error instanceof Failure && !signal.aborted && canRetryHelp(error, maxRetryWaitMs)
    if (!canRetry || !budget.spend()) throw error
    // If the deadline passes during the pause, the retry reports it.
    await ignoreError(pause(error.waitMs ?? 100, signal), 'retry delay was cut short')
    return work()
  }
}

const canRetryHelp = (failure: Failure, maxRetryWaitMs: number) =>
  (isOutage(failure) && (failure.waitMs ?? 0) <= maxRetryWaitMs) || failure.cause instanceof XmlError
