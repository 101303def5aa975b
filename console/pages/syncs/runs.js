/** @type {Record<string, 'good' | 'bad' | 'warn' | 'idle'>} */
const tones = { ok: 'good', failed: 'bad', interrupted: 'bad', running: 'warn', none: 'idle' }

/** The colour of the state of a run. @param {string} state */
export const runTone = state => tones[state]

/**
 * How old the data was when each run that went well had ended: since the one before it had begun; in minutes, the oldest first.
 * @param {any[]} runs the newest first
 */
export function buildLagChart(runs) {
  const well = runs.filter(({ state, endedAt }) => state === 'ok' && endedAt).reverse()
  const ended = well.slice(1).map(run => Date.parse(run.endedAt))
  const minutes = ended.map((end, i) => Math.round((end - Date.parse(well[i].startedAt)) / 6_000) / 10)
  return {
    times: ended.map(end => end / 1_000),
    lines: [{ title: 'age', colour: /** @type {const} */ ('accent'), values: minutes }],
  }
}
