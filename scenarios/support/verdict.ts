/** A fact that has to hold after a run, and what was found. */
export interface Verdict {
  fact: string
  holds: boolean
  found?: string
}

/** A fact holds where nothing contradicts it, and there was something to judge: `of` is how much. */
export const verdict = (fact: string, wrong: readonly string[], of?: number): Verdict => ({
  fact,
  holds: wrong.length === 0 && of !== 0,
  ...(wrong.length
    ? { found: `${wrong.length}${of === undefined ? '' : ` of ${of}`}: ${wrong.slice(0, 5).join('; ')}` }
    : of === undefined
      ? {}
      : { found: of === 0 ? 'there was nothing to judge' : String(of) }),
})
