import { runScenario, type ScenarioOptions } from './engine.ts'

export type SoakOptions = Pick<
  ScenarioOptions,
  'seed' | 'shoppers' | 'backOffice' | 'database' | 'sizes' | 'release' | 'onProgress'
> & { seconds: number }

/** Runs staff, shoppers, faults and kills for `seconds`, with short timeouts and intervals of the back office. */
export const runSoak = ({ seconds, ...options }: SoakOptions) =>
  runScenario({
    ...options,
    isSpedUp: true,
    hasStaff: options.backOffice === 'apparel21',
    faults: 'all',
    crashChance: 0.25,
    abandonChance: 0.04,
    kills: {
      pauseMs: [500, 4_000],
      shares: { api: 0.6, worker: 0.4 },
      spareChance: 0.7,
      keepsOneApi: true,
      expireChance: 0,
    },
    isUnexpected,
    isFinished: progress => progress.seconds >= seconds,
  })

const explainedByOutages = [
  'back_office_error',
  'back_office_unavailable',
  'service_unavailable',
  'outcome_unknown',
  'concurrent_update',
]

/** True for errors that no outage explains, and for lines that aren't from the logger. */
function isUnexpected(line: string): boolean {
  if (!line.startsWith('{')) return true
  // A kill can cut a line.
  if (!line.endsWith('}')) return false
  const { level, alert, msg, err } = JSON.parse(line)
  if (alert !== undefined || explainedByOutages.includes(msg)) return false
  // The mailbox rejects some emails for a while.
  if (level < 50 && /\b451\b/.test(err?.message)) return false
  return level >= 50 || msg === 'internal_error' || (err !== undefined && !explainedByOutages.includes(err.code))
}
