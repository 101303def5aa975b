import type { Failpoint } from '../../src/testing/failpoints.ts'
import type { Kept } from './processes.ts'
import type { Random } from './random.ts'

export type BackOfficeName = 'embedded' | 'apparel21'

/** The borders that a write comes to, and those where a back office is asked between its steps: between 1 and 2, 2 and 3 (docs/decisions/0012). */
const ofEveryWrite = ['before_effect', 'after_effect', 'before_commit', 'after_commit'] as const
const ofAsking = ['after_claim', 'before_upstream', 'after_upstream'] as const
/** Those of the job that settles, and of the one that mails. */
const ofSettling = ['before_effect', 'after_effect', 'before_commit'] as const
const ofMailing = ['before_smtp', 'after_smtp', 'before_mark_sent'] as const

const borders: Record<BackOfficeName, Record<'api' | 'worker', readonly Failpoint[]>> = {
  embedded: { api: ofEveryWrite, worker: ofMailing },
  apparel21: { api: [...ofEveryWrite, ...ofAsking], worker: ofSettling },
}

/** Now and then a border of its work, at which a process that starts is to die. */
export function doomOf(backOffice: BackOfficeName, role: 'api' | 'worker', random: Random, share: number) {
  return () => (random.chance(share) ? random.pick(borders[backOffice][role]) : undefined)
}

/** Who was killed how often, and at which borders. */
export function deathsOf(all: readonly Kept[]): string {
  const times = (of: readonly string[]) =>
    [...Map.groupBy(of, each => each)].map(([each, { length }]) => `${each} ${length}`)
  return all
    .map(({ name, deaths }) => `${name} ${deaths.length}${deaths.length ? ` (${times(deaths).join(', ')})` : ''}`)
    .join(', ')
}
