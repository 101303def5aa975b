import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A running program and its output so far. */
export interface RunningProgram {
  readOutput(): string
  stop(): Promise<void>
}

type Environment = Readonly<Record<string, string>>

const toPath = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

function spawnProgram(path: string, args: readonly string[], environment: Environment) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [toPath(path), ...args], {
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  return { child, readOutput: () => output }
}

/** Runs a program of the checkout until it ends. Returns its output. */
export async function runProgram(path: string, args: readonly string[], environment: Environment): Promise<string> {
  const { child, readOutput } = spawnProgram(path, args, environment)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${path} ${args.join(' ')}: ${readOutput()}`)
  return readOutput()
}

/** Starts a program of the checkout, and waits until it prints `ready`. */
export async function startProgram(
  path: string,
  args: readonly string[],
  environment: Environment,
  ready: string,
): Promise<RunningProgram> {
  const { child, readOutput } = spawnProgram(path, args, environment)
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => readOutput().includes(ready) && resolve())
    child.once('close', () => reject(new Error(`${path} has ended: ${readOutput()}`)))
  })
  return { readOutput, stop: () => end(child) }
}

async function end(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'close')
}
