import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A program that serves HTTP in a process of its own. */
export interface HttpProgram {
  readonly pid: number
  /** Sends a signal and returns when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>
}

export interface HttpProgramOptions {
  cwd: string
  env: NodeJS.ProcessEnv
  /** The file to which the output is appended. */
  log: string
  /** The address that answers 2xx once the program is ready. */
  readyUrl: string
}

const maxStartMs = 120_000

/** Starts a program and waits until it is ready. Throws with the path of its log if it ends before, or isn't ready within 120 s. */
export async function startHttpProgram(
  program: string,
  args: readonly string[],
  { cwd, env, log, readyUrl }: HttpProgramOptions,
): Promise<HttpProgram> {
  const output = createWriteStream(log, { flags: 'a' })
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.pipe(output, { end: false })
  child.stderr.pipe(output, { end: false })
  child.once('close', () => output.end())
  const started = performance.now()
  const isReady = () =>
    fetch(readyUrl).then(
      ({ ok }) => ok,
      () => false,
    )
  async function end(signal: NodeJS.Signals) {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: see ${log}`)
    if (performance.now() - started > maxStartMs) {
      await end('SIGKILL')
      throw new Error(`${program} was not ready within ${maxStartMs / 1_000} s: see ${log}`)
    }
    await delay(100)
  }
  return { pid: child.pid ?? 0, end }
}
