import { t } from '../../lib/text.js'

/** Returns minutes with one decimal. @param {number} ms */
const toMinutes = ms => Math.round(ms / 6_000) / 10

/**
 * Returns the age of the data, in minutes, at the end of each run: the time since the start of the previous successful one. The age at the
 * end of failed runs is marked, and the interval of the schedule is a line.
 * @param {any[]} runs newest first @param {number | null} intervalSeconds
 */
export function buildLagChart(runs, intervalSeconds) {
  const ended = runs.filter(({ endedAt }) => endedAt).reverse()
  /** @type {{ time: number, age: number, isOk: boolean }[]} */
  const points = []
  let lastStart = Number.NaN
  for (const { state, startedAt, endedAt } of ended) {
    const end = Date.parse(endedAt)
    if (!Number.isNaN(lastStart))
      points.push({ time: end / 1_000, age: toMinutes(end - lastStart), isOk: state === 'ok' })
    if (state === 'ok') lastStart = Date.parse(startedAt)
  }
  /** @type {Parameters<typeof import('../../components/chart.js').Chart>[0]['lines']} */
  const lines = [{ title: t('age'), colour: 'accent', values: points.map(({ age }) => age) }]
  if (intervalSeconds)
    lines.push({
      title: t('interval'),
      colour: 'muted',
      style: 'dashed',
      values: points.map(() => toMinutes(intervalSeconds * 1_000)),
    })
  if (points.some(({ isOk }) => !isOk))
    lines.push({
      title: t('failed run'),
      colour: 'bad',
      style: 'points',
      values: points.map(({ age, isOk }) => (isOk ? null : age)),
    })
  return { times: points.map(({ time }) => time), lines }
}
