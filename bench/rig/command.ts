import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { readMemory } from '../../scenarios/support/usage.ts'
import type { Bench } from './bench.ts'
import type { LoadedDatabase } from './database.ts'

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** Runs a command of `tillbridge` in a separate process. Returns its seconds, its output, and its peak memory in MB. */
export async function runCommand(
  { directory }: Bench,
  { url }: LoadedDatabase,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const began = performance.now()
  const child = spawn(cli, args, {
    cwd: directory,
    env: { PATH: process.env.PATH, DATA_DIR: '.', DATABASE_URL: url, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  let peak = 0
  const poll = setInterval(() => {
    peak = Math.max(peak, readMemory(child.pid ?? 0).peak || 0)
  }, 100)
  const [code] = await once(child, 'close')
  clearInterval(poll)
  if (code !== 0) throw new Error(`tillbridge ${args[0]} ended with code ${code}: ${out}`)
  return { seconds: (performance.now() - began) / 1_000, out, peak }
}
