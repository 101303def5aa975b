import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { cli } from '../support/processes.ts'
import { readMemory } from '../support/usage.ts'

export interface ProcessResult {
  code: number | null
  /** Standard error. */
  err: string
  seconds: number
  /** Peak memory in MB. */
  peak: number
}

/** A running command of `tillbridge`. */
export interface Command {
  pid: number
  ended: Promise<ProcessResult>
  isRunning(): boolean
  kill(): void
}

/** Starts a command in a folder. */
export function startCommand(
  args: readonly string[],
  { home, databaseUrl }: { home: string; databaseUrl: string },
): Command {
  const startedAt = performance.now()
  const child = spawn(cli, args, {
    cwd: home,
    env: { PATH: process.env.PATH, DATA_DIR: '.', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const { pid = 0 } = child
  let peak = 0
  const memoryProbe = setInterval(() => {
    peak = Math.max(peak, readMemory(pid).peak || 0)
  }, 100)
  const end = async () => {
    const [[code], err] = await Promise.all([once(child, 'close'), text(child.stderr)])
    clearInterval(memoryProbe)
    return { code, err, peak, seconds: (performance.now() - startedAt) / 1_000 }
  }
  return {
    pid,
    ended: end(),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Runs a program and returns its exit code. */
export async function runProgram(name: string, args: readonly string[], home: string): Promise<number> {
  const child = spawn(name, args, { cwd: home, env: { PATH: process.env.PATH, LC_ALL: 'C' }, stdio: 'inherit' })
  const [code] = await once(child, 'close')
  return code
}
