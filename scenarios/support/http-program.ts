import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { killAtExit } from './kill-at-exit.ts'

/** A separate process that serves HTTP. */
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
  /** The address that returns 2xx once the program is ready. */
  readyUrl: string
}

const maxStartMs = 120_000

/** Starts a program and waits until it is ready. Throws with the path of its log if it ends, or isn't ready within 120 s. */
export async function startHttpProgram(
  program: string,
  args: readonly string[],
  { cwd, env, log, readyUrl }: HttpProgramOptions,
): Promise<HttpProgram> {
  const output = createWriteStream(log, { flags: 'a' })
  const child = killAtExit(spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  child.stdout.pipe(output, { end: false })
  child.stderr.pipe(output, { end: false })
  child.once('close', () => output.end())
  const started = performance.now()
  const isReady = () =>
    fetch(readyUrl).then(
      ({ ok }) => ok,
      () => false,
    )
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  async function end(signal: NodeJS.Signals) {
    if (hasEnded()) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  while (!(await isReady())) {
    if (hasEnded()) throw new Error(`${program} ended with ${child.exitCode ?? child.signalCode}: see ${log}`)
    if (performance.now() - started > maxStartMs) {
      await end('SIGKILL')
      throw new Error(`${program} was not ready within ${maxStartMs / 1_000} s: see ${log}`)
    }
    await delay(100)
  }
  return { pid: child.pid ?? 0, end }
}

/** Sends a request and returns the JSON of the response. Throws if its status isn't 2xx. */
export async function requestJson<T>(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  { authorization, body }: { authorization?: string; body?: object | undefined },
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { ...(authorization && { authorization }), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 500)}`)
  return JSON.parse(text) as T
}
