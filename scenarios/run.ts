import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { scenarios } from './scenarios.ts'

const imports = new URL('../src/module-hooks.js', import.meta.url).href

const [name = '', ...args] = process.argv.slice(2)
const scenario = Object.entries(scenarios).find(([candidate]) => candidate === name)?.[1]
if (scenario) {
  const child = spawn(process.execPath, ['--import', imports, join(import.meta.dirname, scenario.file), ...args], {
    stdio: 'inherit',
    env: { POSTGRES_BIN_DIR: 'bundled', ...process.env },
  })
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  // Ctrl-C reaches the scenario too.
  process.on('SIGINT', () => {})
  const [code] = await once(child, 'exit')
  process.exitCode = code ?? 1
} else {
  const width = Math.max(...Object.keys(scenarios).map(({ length }) => length))
  console.log('Usage: npm run scenario -- <name> [options]; options: npm run scenario -- <name> --help\n')
  for (const [scenarioName, { summary }] of Object.entries(scenarios))
    console.log(`  ${scenarioName.padEnd(width)}  ${summary}`)
  if (name !== '--help') process.exitCode = 1
}
