/** The result of one check after a run. */
export interface CheckResult {
  /** The condition that must hold. */
  title: string
  holds: boolean
  /** The contradictions, or the number of records that were checked. */
  details?: string
}

/** Builds a result that holds if `wrong` is empty and something was checked. `total`: the number of checked records. */
export const check = (title: string, wrong: readonly string[], total?: number): CheckResult => ({
  title,
  holds: wrong.length === 0 && total !== 0,
  ...(wrong.length
    ? { details: `${wrong.length}${total === undefined ? '' : ` of ${total}`}: ${wrong.slice(0, 5).join('; ')}` }
    : total === undefined
      ? {}
      : { details: total === 0 ? 'nothing was checked' : String(total) }),
})
