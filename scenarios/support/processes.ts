import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Failpoint } from '../../src/testing/failpoints.ts'
import { killAtExit } from './kill-at-exit.ts'
import { trustCertificate } from './operations/client.ts'

/** The command line of Tillbridge. */
export const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

export type ProcessRole = 'api' | 'worker'

/** A process that is started again whenever it ends, until the scenario is over. */
export interface ManagedProcess {
  name: string
  dataDirectory: string
  /** URL of an API process; empty until it accepts requests. */
  baseUrl: string
  isUp: boolean
  /** The crash point at which the current run kills itself. */
  crashPoint: Failpoint | undefined
  /** The crash point of each killed run. */
  kills: (Failpoint | 'anywhere')[]
  kill(): void
  /** Stops it (SIGTERM). Resolves when it is up again; throws after 120 s. */
  restart(): Promise<void>
  end(): Promise<void>
}

export interface ManagedProcessOptions {
  name: string
  /** A program of Node.js. Default: `tillbridge`. */
  program?: string | undefined
  args: readonly string[]
  directory: string
  environment: Readonly<Record<string, string>>
  databaseUrl: string
  /** Picks the crash point of each run. Default: none. */
  crashPoint?: () => Failpoint | undefined
  /** Receives each line of standard error. */
  onLog: (line: string) => void
  /** Receives the name of each run that was killed: the application name of its database connections. */
  onKill?: (processRun: string) => void
}

/** Starts a process, and starts it again whenever it ends. Resolves when it is up for the first time. */
export async function startManagedProcess(options: ManagedProcessOptions): Promise<ManagedProcess> {
  const { name, directory, program = cli, args, environment, databaseUrl, onLog } = options
  const dataDirectory = join(directory, name)
  mkdirSync(dataDirectory, { mode: 0o711 })
  let child: ChildProcess
  let runs = 0
  let isOver = false
  let isKilledByUs = false
  const managed: ManagedProcess = {
    name,
    dataDirectory,
    baseUrl: '',
    isUp: false,
    crashPoint: undefined,
    kills: [],
    kill() {
      isKilledByUs = true
      managed.isUp = false
      managed.baseUrl = ''
      child.kill('SIGKILL')
    },
    async restart() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      for (const startedAt = performance.now(); !managed.isUp; await delay(50))
        if (performance.now() - startedAt > 120_000) throw new Error(`${name} did not start again within 120 s`)
    },
    async end() {
      isOver = true
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await ended
    },
  }
  const start = () =>
    new Promise<void>(resolve => {
      const processRun = `${name}-${++runs}`
      const crashPoint = options.crashPoint?.()
      managed.crashPoint = crashPoint
      isKilledByUs = false
      child = killAtExit(
        spawn(process.execPath, [program, ...args], {
          cwd: dataDirectory,
          env: {
            PATH: process.env.PATH,
            DATA_DIR: dataDirectory,
            PORT: '0',
            LOG_LEVEL: 'warn',
            DATABASE_URL: `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}application_name=${processRun}`,
            ...environment,
            ...(crashPoint && { FAILPOINT: crashPoint }),
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      )
      let output = ''
      child.stdout?.setEncoding('utf8').on('data', text => {
        output += text
        const baseUrl = /serves (https:\S+?)[. ]/.exec(output)?.[1]
        if (managed.isUp || (!baseUrl && !/^Worker started\.$/m.test(output))) return
        if (baseUrl) {
          managed.baseUrl = baseUrl
          if (runs === 1 && !environment.TLS_CERT_FILE) trustCertificate(join(dataDirectory, 'tls/ca.pem'))
        }
        managed.isUp = true
        resolve()
      })
      if (child.stderr) createInterface({ input: child.stderr }).on('line', onLog)
      child.once('exit', (_, signal) => {
        managed.isUp = false
        managed.baseUrl = ''
        if (signal === 'SIGKILL') {
          managed.kills.push((!isKilledByUs && crashPoint) || 'anywhere')
          options.onKill?.(processRun)
        }
        setTimeout(() => void (isOver || start().then(resolve)), 50)
      })
    })
  await start()
  return managed
}

/** Runs a command of `tillbridge` to its end; returns its exit code and output. */
export async function runCommand(environment: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  const [code] = await once(child, 'close')
  return { code: code as number, output }
}
