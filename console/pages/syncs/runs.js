/** @typedef {import('../../components/format.js').Tone} Tone */

/** @type {Record<string, Tone>} */
const tones = { ok: 'good', failed: 'bad', interrupted: 'bad', running: 'warn', none: 'idle' }

/** Returns the state of a run with its colour. Rejected or skipped records are a warning. @param {any} run @returns {{ state: string, tone: Tone | undefined }} */
export function describeRun(run) {
  const { state, read, rejected, skipped } = run
  if (state !== 'ok') return { state, tone: tones[state] }
  if (rejected > 0 && rejected >= read) return { state: 'all rejected', tone: 'bad' }
  const problems = [
    [rejected, 'rejected'],
    [skipped, 'skipped'],
  ].flatMap(([count, word]) => (count ? `${count.toLocaleString('en')} ${word}` : []))
  return problems.length ? { state: problems.join(', '), tone: 'warn' } : { state, tone: 'good' }
}

/** Returns the state of an import or a dry run with its colour. @param {any} run @param {boolean} isDryRun @returns {{ state: string, tone: Tone | undefined }} */
export function describeImport(run, isDryRun) {
  const { state, read, rejected } = run
  if (state !== 'ok') return { state, tone: tones[state] }
  if (rejected === 0) return { state: isDryRun ? 'all lines valid' : 'imported', tone: 'good' }
  if (rejected >= read) return { state: 'all lines rejected', tone: 'bad' }
  return { state: `${rejected.toLocaleString('en')} of ${read.toLocaleString('en')} lines rejected`, tone: 'warn' }
}

/** Returns the state of a sync with its colour: overdue, or the state of its last run. @param {any} sync @returns {{ state: string, tone: Tone | undefined }} */
export function describeSync({ isOverdue, state, lastRun }) {
  if (isOverdue) return { state: state === 'failed' ? 'failed' : 'late', tone: 'bad' }
  if (state === 'ok' && lastRun) return describeRun(lastRun)
  return { state: state === 'none' ? 'never ran' : state, tone: tones[state] }
}

/**
 * Returns the age of the data, in minutes, at the end of each successful run: the time since the start of the previous one.
 * @param {any[]} runs newest first
 */
export function buildLagChart(runs) {
  const successful = runs.filter(({ state, endedAt }) => state === 'ok' && endedAt).reverse()
  const ends = successful.slice(1).map(run => Date.parse(run.endedAt))
  const ages = ends.map((end, i) => Math.round((end - Date.parse(successful[i].startedAt)) / 6_000) / 10)
  return {
    times: ends.map(end => end / 1_000),
    lines: [{ title: 'age', colour: /** @type {const} */ ('accent'), values: ages }],
  }
}
