import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Presets, SingleBar } from 'cli-progress'
import { readCommit } from './commit.ts'
import type { CheckResult } from './expectations/check.ts'

const results = fileURLToPath(new URL('../../bench/results/', import.meta.url))

export type Measurements = readonly (readonly [name: string, value: string | number])[]

/** Returns the value below which a share of the values lies; 0 if there are none. */
export const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

/** Writes a line to standard error. */
export const say = (line: string) => process.stderr.write(`${line}\n`)

/** Prints the result of each check. If one fails, sets exit code 1 and returns false. */
export function printChecks(checks: readonly CheckResult[]): boolean {
  for (const { title, holds, details } of checks)
    console.log(`${holds ? '✔' : '✖'} ${title}${details ? ` (${details})` : ''}`)
  const hold = checks.every(({ holds }) => holds)
  if (!hold) process.exitCode = 1
  return hold
}

/** Formats counts, the highest first. */
export const formatCounts = (counts: ReadonlyMap<string, number>) =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || 'none'

/** Prints measurements and checks; with `keep`, also writes them to bench/results/. */
export function report(
  scenario: string,
  {
    measurements,
    checks,
    keep = false,
    command = scenario,
  }: {
    measurements: Measurements
    checks: readonly CheckResult[]
    keep?: boolean | undefined
    /** Name and options of the scenario. Default: its name. */
    command?: string
  },
) {
  for (const [name, value] of measurements) console.log(`  ${name}: ${value}`)
  printChecks(checks)
  if (!keep) return
  mkdirSync(results, { recursive: true })
  const rows = measurements.map(([name, value]) => `| ${name} | ${value} |`)
  const items = checks.map(({ title, holds }) => `* ${holds ? 'holds' : '**does not hold**'}: ${title}`)
  writeFileSync(
    `${results}scenario-${scenario}.md`,
    `# Scenario: ${scenario}\n\n\`npm run scenario -- ${command} --keep\`, commit ${readCommit()}, ${cpus().length} cores.\n\n| | |\n|---|---:|\n${rows.join('\n')}\n\n${items.join('\n')}\n`,
  )
}

/** Shows progress as a bar on a terminal, otherwise as a line after each step. `format` describes the payload. */
export function showProgress<T extends object>(
  total: number,
  step: number,
  unit: string,
  format: (payload: T) => string,
) {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: `{bar} {value}/{total} ${unit}{payload}`, hideCursor: true }, Presets.shades_classic)
    : undefined
  bar?.start(total, 0, { payload: '' })
  let next = step
  return {
    update(value: number, payload: T) {
      const done = Math.min(Math.round(value), total)
      bar?.update(done, { payload: format(payload) })
      if (bar || value < next) return
      next = value + step
      say(`${done} of ${total} ${unit}${format(payload)}`)
    },
    end: () => bar?.stop(),
  }
}
