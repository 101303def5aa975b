import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

/** A process of the product that comes back whenever it ends, until the run is over. */
export interface Kept {
  name: string
  /** Where an API process is reached; empty while it starts. */
  baseUrl: string
  isUp: boolean
  kills: number
  kill(): void
  end(): Promise<void>
}

interface Keeping {
  name: string
  args: readonly string[]
  directory: string
  environment: Readonly<Record<string, string>>
  /** What it says on standard error. */
  onLog: (text: string) => void
}

/** Starts `tillbridge …` and starts it again whenever it ends. Resolves once it is up for the first time. */
export async function keep({ name, args, directory, environment, onLog }: Keeping): Promise<Kept> {
  const home = join(directory, name)
  mkdirSync(home, { mode: 0o711 })
  let child: ChildProcess
  let over = false
  const kept: Kept = {
    name,
    baseUrl: '',
    isUp: false,
    kills: 0,
    kill() {
      kept.kills++
      kept.isUp = false
      kept.baseUrl = ''
      child.kill('SIGKILL')
    },
    async end() {
      over = true
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await ended
    },
  }
  const begin = () =>
    new Promise<void>(resolve => {
      child = spawn(process.execPath, [cli, ...args], {
        cwd: home,
        env: { PATH: process.env.PATH, DATA_DIR: home, PORT: '0', LOG_LEVEL: 'warn', ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let said = ''
      child.stdout?.setEncoding('utf8').on('data', text => {
        said += text
        const baseUrl = /serves (https:\S+?)[. ]/.exec(said)?.[1]
        if (baseUrl) kept.baseUrl = baseUrl
        if (!baseUrl && !/does jobs/.test(said)) return
        kept.isUp = true
        resolve()
      })
      child.stderr?.setEncoding('utf8').on('data', onLog)
      child.once('exit', () => {
        kept.isUp = false
        kept.baseUrl = ''
        if (!over) setTimeout(() => void begin().then(resolve), 50)
      })
    })
  await begin()
  return kept
}
