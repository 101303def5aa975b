/** An endpoint with a longer lag, in seconds, counts as failing. */
const maxLagSeconds = 300

/** Returns the state of an endpoint with its colour. A failed last delivery is a warning, and an error if the lag grows. @param {any} webhook @returns {{ state: string, tone: import('../../components/format.js').Tone }} */
export function describeWebhook({ state, lag, lastSuccessAt, lastFailure }) {
  if (state === 'failing') return { state, tone: 'bad' }
  if (state === 'paused') return { state, tone: 'warn' }
  const isFar = lag.seconds > maxLagSeconds
  const hasFailed = lastFailure && !(Date.parse(lastFailure.at) < Date.parse(lastSuccessAt))
  if (hasFailed) return { state: 'last delivery failed', tone: isFar ? 'bad' : 'warn' }
  return isFar ? { state: 'behind', tone: 'bad' } : { state, tone: 'good' }
}
