/** The colour of a status: ours to mend, theirs to mend, well. @param {number} status @returns {'good' | 'bad' | 'warn'} */
export const getStatusTone = status => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

/**
 * How long something took.
 * @param {string} title @param {(row: any) => number | undefined} of milliseconds @returns {import('../../components/table.js').Column}
 */
export const durationColumn = (title, of) => ({
  title,
  name: `${title} (ms)`,
  right: true,
  value: row => (of(row) === undefined ? null : formatMs(/** @type {number} */ (of(row)))),
  text: row => String(of(row) ?? ''),
})

/** Milliseconds in words. @param {number} milliseconds */
export const formatMs = milliseconds => `${milliseconds.toLocaleString('en', { maximumFractionDigits: 1 })} ms`
