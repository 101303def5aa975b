import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { commit } from '../support/commit.ts'
import type { Verdict } from '../support/verdict.ts'

const results = fileURLToPath(new URL('../../bench/results/', import.meta.url))

export type Figures = readonly (readonly [what: string, figure: string | number])[]

/** The value below which a share of them lies; 0 of none. */
export const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

/** Says what was measured and what holds; with `keep`, also in `bench/results/`. A fact that does not hold is exit code 1. */
export function tell(
  trial: string,
  {
    figures,
    verdicts,
    keep,
    how = trial,
  }: {
    figures: Figures
    verdicts: Verdict[]
    keep: boolean /** Its name and options, where it has others than the name. */
    how?: string
  },
) {
  for (const [what, figure] of figures) console.log(`  ${what}: ${figure}`)
  for (const { fact, holds, found } of verdicts)
    console.log(`${holds ? '✔' : '✖'} ${fact}${found ? ` (${found})` : ''}`)
  if (verdicts.some(({ holds }) => !holds)) process.exitCode = 1
  if (!keep) return
  mkdirSync(results, { recursive: true })
  const rows = figures.map(([what, figure]) => `| ${what} | ${figure} |`)
  const facts = verdicts.map(({ fact, holds }) => `* ${holds ? 'holds' : '**does not hold**'}: ${fact}`)
  writeFileSync(
    `${results}trial-${trial}.md`,
    `# Trial: ${trial}\n\n\`npm run trial -- ${how} --keep\`, commit ${commit()}, ${cpus().length} cores.\n\n| | |\n|---|---:|\n${rows.join('\n')}\n\n${facts.join('\n')}\n`,
  )
}
