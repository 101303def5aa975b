/** How many calls earn one repeat: a back office in trouble is not to be asked twice as much. */
const callsPerRepeat = 10
/** Calls' worth that may be saved up, and that a new process has. */
const most = 100
const first = 30

export interface RetryBudget {
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
