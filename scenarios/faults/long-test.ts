import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { parseInteger } from '../support/options.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

interface LongTest {
  description: string
  /** The test file, whose short form the suite runs. */
  file: string
  /** Title of the test; all tests of the file if absent. */
  test?: string
  /** Environment variables of the test that no option changes. */
  environment?: Readonly<Record<string, string>>
  /** Options, by the environment variable that the test reads. */
  options?: Readonly<Record<string, readonly [flag: string, description: string, defaultValue: number]>>
}

/** Runs a test of the suite with higher numbers, from the command line. */
export function runLongTest(name: string, { description, file, test, environment, options = {} }: LongTest) {
  const command = new Command(`npm run scenario -- ${name}`)
    .description(`${description}\nRuns the test ${file}${environment ? '' : ' with higher numbers'}.`)
    .addHelpText('after', `\nExample:\n  npm run scenario -- ${name}\n`)
  for (const [flag, summary, defaultValue] of Object.values(options))
    command.option(`--${flag} <number>`, summary, parseInteger, defaultValue)
  const values = command.parse().opts<Record<string, number>>()
  const numbers = Object.entries(options).map(([variable, [flag]]) => [variable, String(values[flag])])
  const pattern = test === undefined ? [] : [`--test-name-pattern=${test}`]
  const run = ['--test', '--test-global-setup=test/support/run/setup.ts', ...pattern, file]
  const { status } = spawnSync(process.execPath, run, {
    cwd: checkout,
    stdio: 'inherit',
    env: Object.assign({}, process.env, environment, Object.fromEntries(numbers)),
  })
  process.exitCode = status ?? 1
}
