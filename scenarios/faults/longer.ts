import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { whole } from './options.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

interface Longer {
  description: string
  /** Of the tests, whose short form the suite runs. */
  file: string
  /** The one of the file's tests that is meant, where it is not all of them. */
  test?: string
  /** Options, by the environment variable that the test reads. */
  options: Readonly<Record<string, readonly [flag: string, what: string, usual: number]>>
}

/** A trial that is the long form of a test: the same facts, held for longer, or by more. */
export function runLonger(name: string, { description, file, test, options }: Longer) {
  const command = new Command(`npm run trial -- ${name}`)
    .description(`${description}\nThe same test as in the suite, ${file}, longer.`)
    .addHelpText('after', `\nExample:\n  npm run trial -- ${name}\n`)
  for (const [flag, what, usual] of Object.values(options)) command.option(`--${flag} <number>`, what, whole, usual)
  const given = command.parse().opts<Record<string, number>>()
  const environment = Object.entries(options).map(([variable, [flag]]) => [variable, String(given[flag])])
  const pattern = test === undefined ? [] : [`--test-name-pattern=${test}`]
  const run = ['--test', '--test-global-setup=test/support/run/setup.ts', ...pattern, file]
  const { status } = spawnSync(process.execPath, run, {
    cwd: checkout,
    stdio: 'inherit',
    env: Object.assign({}, process.env, Object.fromEntries(environment)),
  })
  process.exitCode = status ?? 1
}
