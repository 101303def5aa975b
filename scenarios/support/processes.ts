import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Failpoint } from '../../src/testing/failpoints.ts'

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** A process that comes back whenever it ends, until the run is over. */
export interface Kept {
  name: string
  /** Its DATA_DIR. */
  home: string
  /** Where an API process is reached; empty while it starts. */
  baseUrl: string
  isUp: boolean
  /** The border at which the life that it lives is to end. */
  doom: Failpoint | undefined
  /** Where each of its lives ended that was ended by a kill. */
  deaths: (Failpoint | 'anywhere')[]
  kill(): void
  /** Asks it to stop, and starts it again. Resolves once it is up. */
  restart(): Promise<void>
  end(): Promise<void>
}

export interface Keeping {
  name: string
  /** A program of Node.js; `tillbridge` unless something else is said. */
  program?: string
  args: readonly string[]
  directory: string
  environment: Readonly<Record<string, string>>
  databaseUrl: string
  /** The border at which the life that begins now is to end, if it gets there. */
  doom?: () => Failpoint | undefined
  /** What it says on standard error, line by line. */
  onLog: (line: string) => void
  /** Told of each life that a kill has ended, by the name that its connections to the database have. */
  onDeath?: (life: string) => void
}

/** Starts a process, and starts it again whenever it ends. Resolves once it is up for the first time. */
export async function keep({ name, directory, onLog, onDeath = () => {}, ...keeping }: Keeping): Promise<Kept> {
  const { program = cli, args, environment, databaseUrl, doom = () => undefined } = keeping
  const home = join(directory, name)
  mkdirSync(home, { mode: 0o711 })
  let child: ChildProcess
  let lives = 0
  let over = false
  let isStruck = false
  const kept: Kept = {
    name,
    home,
    baseUrl: '',
    isUp: false,
    doom: undefined,
    deaths: [],
    kill() {
      isStruck = true
      kept.isUp = false
      kept.baseUrl = ''
      child.kill('SIGKILL')
    },
    async restart() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      for (const begun = performance.now(); !kept.isUp; await delay(50))
        if (performance.now() - begun > 120_000) throw new Error(`${name} does not come back`)
    },
    async end() {
      over = true
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await ended
    },
  }
  const begin = () =>
    new Promise<void>(resolve => {
      const life = `${name}-${++lives}`
      const border = doom()
      kept.doom = border
      isStruck = false
      child = spawn(process.execPath, [program, ...args], {
        cwd: home,
        env: {
          PATH: process.env.PATH,
          DATA_DIR: home,
          PORT: '0',
          LOG_LEVEL: 'warn',
          DATABASE_URL: `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}application_name=${life}`,
          ...environment,
          ...(border && { FAILPOINT: border }),
        },
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
      if (child.stderr) createInterface({ input: child.stderr }).on('line', onLog)
      child.once('exit', (_, signal) => {
        kept.isUp = false
        kept.baseUrl = ''
        if (signal === 'SIGKILL') {
          kept.deaths.push((!isStruck && border) || 'anywhere')
          onDeath(life)
        }
        setTimeout(() => void (over || begin().then(resolve)), 50)
      })
    })
  await begin()
  return kept
}
