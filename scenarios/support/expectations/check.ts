/** The result of one check after a run. */
export interface CheckResult {
  /** The condition that must hold. */
  title: string
  holds: boolean
  /** The contradictions, or the number of records that were checked. */
  details?: string
}

/** Holds if there are no contradictions, and if something was checked: `of` counts the records. */
export const check = (title: string, wrong: readonly string[], of?: number): CheckResult => ({
  title,
  holds: wrong.length === 0 && of !== 0,
  ...(wrong.length
    ? { details: `${wrong.length}${of === undefined ? '' : ` of ${of}`}: ${wrong.slice(0, 5).join('; ')}` }
    : of === undefined
      ? {}
      : { details: of === 0 ? 'nothing was checked' : String(of) }),
})
