import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { memory } from '../support/usage.ts'

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** What became of a process. */
export interface Ended {
  code: number | null
  /** What it said on standard error. */
  err: string
  seconds: number
  /** The most memory that it had at a time, in MB. */
  peak: number
}

/** A command of `tillbridge` in a process of its own. */
export interface Command {
  pid: number
  ended: Promise<Ended>
  isRunning(): boolean
  kill(): void
}

/** Begins a command in a folder, on a database. */
export function begin(args: readonly string[], { home, databaseUrl }: { home: string; databaseUrl: string }): Command {
  const began = performance.now()
  const child = spawn(cli, args, {
    cwd: home,
    env: { PATH: process.env.PATH, DATA_DIR: '.', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const { pid = 0 } = child
  let peak = 0
  const look = setInterval(() => {
    peak = Math.max(peak, memory(pid).peak || 0)
  }, 100)
  const end = async () => {
    const [[code], err] = await Promise.all([once(child, 'close'), text(child.stderr)])
    clearInterval(look)
    return { code, err, peak, seconds: (performance.now() - began) / 1_000 }
  }
  return {
    pid,
    ended: end(),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Runs a program that works in place, its memory bounded whatever there is to do. Answers its exit code. */
export async function program(name: string, args: readonly string[], home: string): Promise<number> {
  const child = spawn(name, args, { cwd: home, env: { PATH: process.env.PATH, LC_ALL: 'C' }, stdio: 'inherit' })
  const [code] = await once(child, 'close')
  return code
}
