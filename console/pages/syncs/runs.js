import { t } from '../../lib/text.js'

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
    lines: [{ title: t('age'), colour: /** @type {const} */ ('accent'), values: ages }],
  }
}
