import { ignoreError } from '../../../telemetry/ignored-errors.ts'
import { XmlFault } from '../xml/xml.ts'
import { pause } from './cool-down.ts'
import { Failure, isOutage } from './failure.ts'

/** How many calls earn one repeat: a back office in trouble is not to be asked twice as much. */
const callsPerRepeat = 10
/** Calls' worth that may be saved up, and that a new process has. */
const most = 100
const first = 30

interface RetryBudget {
  /** Notes a call of somebody's. */
  earn(): void
  /** Takes a repeat out of the budget; false: there is none left. */
  spend(): boolean
}

/** Repeats over time are at most a tenth of the calls. */
export function makeRetryBudget(): RetryBudget {
  let saved = first
  return {
    earn() {
      saved = Math.min(most, saved + 1)
    },
    spend() {
      if (saved < callsPerRepeat) return false
      saved -= callsPerRepeat
      return true
    },
  }
}

interface Within {
  budget: RetryBudget
  /** The longest wait before the repeat, in milliseconds. */
  patienceMs: number
  signal: AbortSignal
}

/** Does work, and once more where that may help and the budget has it. */
export async function repeated<T>(work: () => Promise<T>, { budget, patienceMs, signal }: Within): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure) || signal.aborted || !mayHelp(error, patienceMs) || !budget.spend()) throw error
    // Where the time is over meanwhile the repeat says so.
    await ignoreError(pause(error.waitMs ?? 100, signal), 'retry delay was cut short')
    return work()
  }
}

const mayHelp = (failure: Failure, patienceMs: number) =>
  (isOutage(failure) && (failure.waitMs ?? 0) <= patienceMs) || failure.cause instanceof XmlFault
