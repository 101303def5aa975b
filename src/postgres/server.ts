import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, escapeIdentifier } from 'pg'
import { backoff, finishesWithin } from '../concurrency/backoff.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { environment, type RunAs } from './run-as.ts'

/** A `pg` client configuration. The host is the directory of the socket. */
export interface Connection {
  host: string
  port: number
  user: string
  database: string
  /** Explicit, because PGSSLMODE would require TLS even on a socket. */
  ssl: false
}

/** One process of the PostgreSQL server. */
export interface Server {
  pid: number
  /** Resolves with the reason once the process has ended. */
  exited: Promise<string>
  end(graceMs: number): Promise<void>
}

/** Starts the server's process. It isn't ready yet (`waitUntilReady`). */
export function spawnServer(program: string, args: readonly string[], runAs: RunAs, logs: string): Server {
  // Messages before the server's log collector starts go to a separate file.
  const startLog = join(logs, 'start.log')
  const log = openSync(startLog, 'w', 0o600)
  const [command = '', ...commandArguments] = [...runAs.prefix, program, ...args]
  const child = spawn(command, commandArguments, {
    ...runAs.credentials,
    env: environment,
    cwd: '/',
    // Ctrl-C signals the whole process group, but the database must outlive the running requests.
    detached: true,
    stdio: ['ignore', 'ignore', log],
  })
  closeSync(log)
  child.unref()
  const release = child.pid === undefined ? () => {} : startWatchdog(child.pid)

  const exited = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) =>
      resolve(findFatalError(startLog) ?? (signal ? `signal ${signal}` : `exit code ${code}`)),
    )
  }).finally(release)

  async function end(graceMs: number): Promise<void> {
    child.ref()
    // Fast shutdown, then immediate shutdown (the next start runs recovery), then kill.
    for (const [signal, waitMs] of [
      ['SIGINT', graceMs],
      ['SIGQUIT', 6_000],
      ['SIGKILL', 5_000],
    ] as const) {
      child.kill(signal)
      if (await finishesWithin(exited, waitMs)) return
    }
  }
  return { pid: child.pid ?? 0, exited, end }
}

// The pipe closes when this process ends, even by kill -9. Then the watchdog shuts the server down.
function startWatchdog(pid: number): () => void {
  const watchdog = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(pid)], {
    env: environment,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // The watchdog is optional, because the next start ends an orphaned server.
  watchdog.on('error', () => {})
  watchdog.stdin.on('error', () => {})
  watchdog.unref()
  ;(watchdog.stdin as unknown as { unref(): void }).unref()
  return () => watchdog.kill('SIGKILL')
}

function findFatalError(file: string): string | undefined {
  try {
    return /(?:FATAL|PANIC): +(.*)/.exec(readFileSync(file, 'utf8'))?.[1]
  } catch {
    // The directory was deleted, which also ends the server.
    return undefined
  }
}

/** Waits until the database accepts connections; after a crash that includes recovery. Creates the database if it is missing. */
export async function waitUntilReady(server: Server, connection: Connection): Promise<void> {
  let ended: string | undefined
  server.exited.then(reason => {
    ended = reason
  })
  // The server logs each rejected connection, so a long recovery is polled less and less often.
  for (const delays = backoff({ initialMs: 10, maxMs: 250, factor: 1.1 }); ; ) {
    const code = await tryConnection(connection)
    if (code === undefined) return
    if (ended !== undefined) throw new Error(`PostgreSQL did not start: ${ended}`)
    if (code === missingDatabase) await createDatabase(connection)
    else await delay(delays.next())
  }
}

const missingDatabase = '3D000'
// The server isn't listening yet, is starting up, or has ended.
const startingCodes = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03']

/** Returns undefined if the connection succeeds, otherwise the error code. */
async function tryConnection(connection: Connection): Promise<string | undefined> {
  try {
    await withClient(connection, async () => {})
    return undefined
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === undefined || code === missingDatabase || startingCodes.includes(code)) return code ?? ''
    throw error
  }
}

async function createDatabase(connection: Connection): Promise<void> {
  await withClient({ ...connection, database: 'postgres' }, async client => {
    await client.query(`create database ${escapeIdentifier(connection.database)}`)
  })
}

async function withClient(connection: Connection, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client(connection)
  // A server that ends also emits this event. The awaited call fails anyway.
  client.on('error', () => {})
  try {
    await client.connect()
    await work(client)
  } finally {
    await ignoreError(client.end(), 'connection was already closed')
  }
}
