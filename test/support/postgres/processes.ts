import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { type Postgres, type PostgresOptions, startPostgres } from '../../../src/postgres/postgres.ts'
import type { Connection } from '../../../src/postgres/server.ts'

export const isRoot = process.geteuid?.() === 0
export const unprivileged = { uid: 65534, gid: 65534 }
const canRunUnprivileged = spawnSync(process.execPath, ['--version'], { ...unprivileged, cwd: '/' }).status === 0

// Reasons to skip a test, or false.
export const needsRoot = isRoot ? false : 'needs root'
export const needsOpenCheckout =
  isRoot && canRunUnprivileged ? false : 'needs root and a checkout that other users can enter'
export const needsProc = fs.existsSync('/proc/self/cmdline') ? false : 'needs /proc'

/** Creates a directory that is removed after the test. */
export function createTemporaryDirectory(t: TestContext, mode = 0o711): string {
  const directory = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'tillbridge-test-'))
  fs.chmodSync(directory, mode)
  cleanUp(t, () => fs.rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
  return directory
}

const cleanUps = new WeakMap<TestContext, (() => unknown)[]>()

/** Runs `work` after the test, like `t.after`, but in reverse order: servers end before their directories are removed. */
export function cleanUp(t: TestContext, work: () => unknown): void {
  const registered = cleanUps.get(t) ?? []
  if (registered.length === 0) {
    t.after(async () => {
      for (const end of registered.reverse()) await end()
    })
  }
  registered.push(work)
  cleanUps.set(t, registered)
}

/** Starts a PostgreSQL server that is stopped after the test. */
export async function startServer(t: TestContext, home: string, options?: PostgresOptions): Promise<Postgres> {
  const postgres = await startPostgres(home, options)
  cleanUp(t, () => postgres.stop())
  return postgres
}

export async function runQuery(connection: Connection, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

interface OwnerOptions {
  script?: string
  uid?: number
  gid?: number
  detached?: boolean
}

interface OwnerProcess {
  process: ChildProcess
  nextLine: () => Promise<string>
}

interface Owner extends OwnerProcess {
  connection: Connection
  pid: number
  error?: string
}

/** Starts a process that starts a server. `error` is the message if the start fails. */
export async function startOwner(t: TestContext, home: string, options?: OwnerOptions): Promise<Owner> {
  const spawned = spawnOwner(t, home, options)
  return { ...spawned, ...JSON.parse(await spawned.nextLine()) }
}

/** Spawns a process that starts a server and stops it when its standard input ends or it is interrupted. */
export function spawnOwner(t: TestContext, home: string, { script = '', ...options }: OwnerOptions = {}): OwnerProcess {
  const code = `
    import { startPostgres } from ${JSON.stringify(new URL('../../../src/postgres/postgres.ts', import.meta.url).href)}
    import { Client } from ${JSON.stringify(import.meta.resolve('pg'))}
    process.on('SIGINT', async () => {
      await new Promise(done => setTimeout(done, 300))
      const client = new Client(postgres.connection)
      await client.connect()
      console.log(JSON.stringify((await client.query('select 1 as value')).rows[0]))
      await client.end()
      await postgres.stop()
      process.exit()
    })
    process.stdin.resume().on('end', () => postgres.stop().then(() => process.exit()))
    const postgres = await startPostgres(${JSON.stringify(home)}).catch(error => {
      console.log(JSON.stringify({ error: error.message }))
      process.exit(1)
    })
    console.log(JSON.stringify({ pid: postgres.pid, connection: postgres.connection }))
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    ...options,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise(resolve => child.once('exit', resolve))
  cleanUp(t, async () => {
    child.stdin.end()
    await exited
  })
  child.stdin.on('error', () => {})
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const nextLine = async () => (await lines.next()).value ?? ''
  return { process: child, nextLine }
}

export function listProcesses(): { pid: number; line: string }[] {
  return fs
    .readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => ({ pid: Number(name), line: readCommandLine(name) }))
}

function readCommandLine(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

/** True if a process runs. A zombie, whose parent hasn't read its exit code, has no command line and counts as ended. */
export const isRunning = (pid: number) => readCommandLine(String(pid)) !== ''

export const getMode = (path: string) => fs.statSync(path).mode & 0o777
