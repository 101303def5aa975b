/** @type {Record<string, 'good' | 'bad' | 'warn' | 'idle'>} */
const tones = { ok: 'good', failed: 'bad', lost: 'bad', running: 'warn', none: 'idle' }

/** The colour of the state of a run. @param {string} state */
export const runTone = state => tones[state]

/**
 * How old the data was when each run that went well had ended: since the one before it had begun; in minutes, the oldest first.
 * @param {any[]} runs the newest first
 * @returns {[seconds: number, minutes: number][]}
 */
export function lags(runs) {
  const well = runs.filter(({ state, endedAt }) => state === 'ok' && endedAt).reverse()
  return well.slice(1).map((run, i) => {
    const ended = Date.parse(run.endedAt)
    return [ended / 1_000, Math.round((ended - Date.parse(well[i].startedAt)) / 6_000) / 10]
  })
}
