import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { listChildPids } from '../../scenarios/support/children.ts'
import type { Access } from '../../src/runtime/installation/first-access.ts'
import { isRunning } from './postgres/processes.ts'

export const checkout = fileURLToPath(new URL('../..', import.meta.url))
export const cli = join(checkout, 'src/cli.js')
const programs = join(checkout, 'node_modules/.bin')

export type Environment = Record<string, string>

/** A running command and its output so far. */
export interface RunningCommand {
  child: ChildProcess
  pid: number
  out: string
  err: string
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

interface RunOptions {
  cwd?: string
  /** The program to run instead of `node src/cli.js`. */
  program?: readonly [string, ...string[]]
}

/** Environment variables that child processes inherit. Without the compile cache, each start compiles all modules again. */
const { HOME, NODE_COMPILE_CACHE, PATH, TMPDIR } = process.env
const inheritedEnvironment = {
  BACKUP_RECIPIENTS: 'plain',
  HOME,
  NODE_COMPILE_CACHE,
  PATH: `${programs}${delimiter}${PATH}`,
  // A PostgreSQL installed on this machine could be another major version with other plans.
  POSTGRES_BIN_DIR: 'bundled',
  TMPDIR,
}

const runningCommands = new Set<RunningCommand>()
const directories = new Set<string>()

/** Kills all processes and removes all directories of a test file after its tests, even if they fail. */
after(async () => {
  for (const runningCommand of runningCommands) killGroup(runningCommand)
  await Promise.all([...runningCommands].map(command => command.ended))
  for (const path of directories) {
    for (const home of [path, ...fs.readdirSync(path).map(name => join(path, name))]) {
      const postgres = findPostgresPid(home)
      if (postgres) await waitUntil(() => !isRunning(postgres), 'PostgreSQL ends after its owner', 20_000)
    }
    fs.rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  }
})
process.on('exit', () => runningCommands.forEach(killGroup))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/** Kills a command and its child processes. */
export function killGroup({ pid }: RunningCommand) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

/** Creates a directory that is removed after the test file. */
export function createDirectory(mode = 0o711): string {
  const path = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'tillbridge-test-'))
  fs.chmodSync(path, mode)
  directories.add(path)
  return path
}

/** Starts `tillbridge …`. It gets only `environment` and `inheritedEnvironment`, not the environment of the tests. */
export function startCommand(
  args: readonly string[],
  environment: Environment,
  options: RunOptions = {},
): RunningCommand {
  const [command, ...programArgs] = options.program ?? [process.execPath, cli]
  const child = spawn(command, [...programArgs, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...inheritedEnvironment, ...environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const running: RunningCommand = {
    child,
    pid: child.pid ?? 0,
    out: '',
    err: '',
    ended: once(child, 'close').then(([code, signal]) => {
      runningCommands.delete(running)
      return { code, signal }
    }),
  }
  child.stdout.setEncoding('utf8').on('data', text => {
    running.out += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    running.err += text
  })
  runningCommands.add(running)
  return running
}

/** Runs `tillbridge …` and waits until it ends. */
export async function runCommand(args: readonly string[], environment: Environment, options?: RunOptions) {
  const command = startCommand(args, environment, options)
  const { code, signal } = await command.ended
  return { code, signal, out: command.out, err: command.err }
}

/** Returns options for `runCommand` with which the command reads `text` from its standard input. */
export const typeAnswer = (text: string): RunOptions => ({
  program: ['sh', '-c', `echo ${text} | '${process.execPath}' '${cli}' "$@"`, 'sh'],
})

/** Runs a command. Returns its standard output. Fails if the exit code isn't 0. */
export async function runSuccessfully(
  args: readonly string[],
  environment: Environment,
  options?: RunOptions,
): Promise<string> {
  const { code, out, err } = await runCommand(args, environment, options)
  assert.equal(code, 0, `tillbridge ${args.join(' ')}: ${out}${err}`)
  return out
}

/** A running server, and how to reach it. */
export interface RunningServer extends RunningCommand, Pick<Access, 'baseUrl' | 'caFile'> {}

/** Starts `tillbridge start …`. Resolves when it accepts requests. */
export async function serve(
  args: readonly string[],
  environment: Environment,
  options?: RunOptions,
): Promise<RunningServer> {
  const defaults = { PORT: '0', LOG_LEVEL: 'warn' }
  return waitUntilServing(startCommand(['start', ...args], { ...defaults, ...environment }, options), environment)
}

/** Waits until a started server reports that it accepts requests. */
export async function waitUntilServing(
  command: RunningCommand,
  { DATA_DIR = '', TLS_CERT_FILE = '' }: Environment,
): Promise<RunningServer> {
  let hasEnded = false
  command.ended.then(() => {
    hasEnded = true
  })
  await waitUntil(
    () => hasEnded || command.out.includes('Press Ctrl-C to stop.'),
    'the server accepts requests',
    120_000,
  )
  assert.ok(!hasEnded, `The server ended before it accepted requests: ${command.out}${command.err}`)
  const baseUrl = /serves (https:\S+?)[. ]/.exec(command.out)?.[1] ?? ''
  return Object.assign(command, { baseUrl, caFile: TLS_CERT_FILE || join(DATA_DIR, 'tls/ca.pem') })
}

/** Signals a server to stop. Returns its exit code and signal. */
export async function stopServer(command: RunningCommand, signal: NodeJS.Signals = 'SIGTERM') {
  command.child.kill(signal)
  return command.ended
}

export type Credentials = Pick<Access, 'username' | 'password' | 'serviceName'>

/** Sends a GET request over a new connection. Fails if there is no response within 20 s. */
export function sendGet(
  { baseUrl, caFile }: Pick<Access, 'baseUrl' | 'caFile'>,
  path: string,
  credentials?: Credentials,
) {
  const headers = credentials && {
    authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`,
    'x-service-name': credentials.serviceName,
  }
  const ca = caFile && fs.readFileSync(caFile)
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  return new Promise<{ status: number; headers: Record<string, any>; text: string; json: any }>((resolve, reject) => {
    const options = { agent: false as const, timeout: 20_000, ...(ca && { ca }), ...(headers && { headers }) }
    const clientRequest = request(`${baseUrl}${path}`, options, response => {
      let text = ''
      response.setEncoding('utf8').on('data', part => {
        text += part
      })
      response.on('error', reject)
      response.on('end', () => {
        const json = /json/.test(String(response.headers['content-type'])) ? JSON.parse(text) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
      })
    })
    clientRequest.on('timeout', () => clientRequest.destroy(new Error(`No response from ${path} within 20 s.`)))
    clientRequest.on('error', reject)
    clientRequest.end()
  })
}

export const readAccess = (dataDir: string): Access =>
  JSON.parse(fs.readFileSync(join(dataDir, 'access.json'), 'utf8')) as Access

/** Creates a service with an admin. Returns the admin's credentials. */
export async function createServiceAccess(environment: Environment, serviceName = 'luma'): Promise<Credentials> {
  await runSuccessfully(['service', 'add', serviceName], environment)
  return addAdmin(environment, serviceName)
}

/** Creates an admin of a service. Returns the admin's credentials. */
export async function addAdmin(environment: Environment, serviceName: string): Promise<Credentials> {
  const username = `${serviceName}-admin`
  const output = await runSuccessfully(
    ['account', 'add', username, '--service', serviceName, '--role', 'admin'],
    environment,
  )
  return { username, password: findPassword(output), serviceName }
}

export const findPassword = (output: string) => /^Password: (\S+)$/m.exec(output)?.[1] ?? ''

/** Connects to the database of a running server. */
export async function connectToDatabase(dataDir: string): Promise<pg.Client> {
  const client = new pg.Client(JSON.parse(fs.readFileSync(join(dataDir, 'database.json'), 'utf8')))
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Returns the process ID of the bundled PostgreSQL that runs, or last ran, in a data directory. */
export function findPostgresPid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres/data/postmaster.pid')
  return fs.existsSync(file) ? Number.parseInt(fs.readFileSync(file, 'utf8'), 10) : undefined
}

/** Returns the process IDs of the workers of a server that was started with WEB_CONCURRENCY. */
export const findWorkerPids = ({ pid }: RunningCommand): number[] =>
  listChildPids(pid).filter(child => fs.readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('src/cli.js'))

/** True if a process was stopped by a signal (proc_pid_stat(5)). */
export const isHalted = (pid = 0) => /^\d+ \(.*\) T/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))

/**
 * Checks a condition until it is met. Fails with `label` after `withinMs`. The interval grows from 20 ms to 200 ms, because
 * a check can be a query or a command.
 */
export async function waitUntil(condition: () => unknown, label: string, withinMs = 10_000): Promise<void> {
  const startedAt = Date.now()
  while (!(await condition())) {
    const waitedMs = Date.now() - startedAt
    assert.ok(waitedMs < withinMs, `Timed out after ${withinMs} ms: ${label}.`)
    await delay(Math.min(Math.max(20, waitedMs / 20), 200))
  }
}

/** Returns a random port, which is probably free. */
export const pickPort = () => String(randomInt(20_000, 32_000))

/** Listens on a port while `work` runs. */
export async function withOccupiedPort(work: (port: string) => Promise<void>) {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  try {
    await work(String(typeof address === 'object' && address?.port))
  } finally {
    server.close()
  }
}
