import { formatNumber, t } from '../../lib/text.js'

/** Returns the colour of a status: server error, client error or success. @param {number} status @returns {'good' | 'bad' | 'warn'} */
export const getStatusTone = status => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

/**
 * A column of durations.
 * @param {string} title @param {(row: any) => number | undefined} getMs @returns {import('../../components/table.js').Column}
 */
export const durationColumn = (title, getMs) => ({
  title,
  name: t('{title} (ms)', { title }),
  right: true,
  value: row => (getMs(row) === undefined ? null : formatMs(/** @type {number} */ (getMs(row)))),
  text: row => String(getMs(row) ?? ''),
})

/** @param {number} milliseconds */
export const formatMs = milliseconds =>
  t('{number} ms', { number: formatNumber(milliseconds, { maximumFractionDigits: 1 }) })
