import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { trials } from './trials.ts'

const imports = new URL('../src/module-hooks.js', import.meta.url).href

const [name = '', ...args] = process.argv.slice(2)
const trial = Object.entries(trials).find(([each]) => each === name)?.[1]
if (trial)
  process.exitCode =
    spawnSync(process.execPath, ['--import', imports, join(import.meta.dirname, trial.file), ...args], {
      stdio: 'inherit',
    }).status ?? 1
else {
  const width = Math.max(...Object.keys(trials).map(({ length }) => length))
  console.log('Usage: npm run trial -- <name> [options]; options: npm run trial -- <name> --help\n')
  for (const [each, { what }] of Object.entries(trials)) console.log(`  ${each.padEnd(width)}  ${what}`)
  if (name !== '--help') process.exitCode = 1
}
