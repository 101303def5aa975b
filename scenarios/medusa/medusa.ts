import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase, raw, sql } from '../../src/database/db.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { freePort } from '../support/free-port.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'

/*
 * A real Medusa on this machine: installs it once, starts it with a PostgreSQL of its own, and creates an administrator and an API key. After the
 * installation, it uses only the loopback address.
 */

export const medusaVersion = '2.21.2'

/** A running Medusa with an empty shop. */
export interface Medusa {
  /** The address of the Admin API, such as `http://127.0.0.1:34567`. It stays the same after a restart. */
  readonly url: string
  /** The secret API key (`sk_…`): the username of HTTP Basic, with an empty password. */
  readonly token: string
  /** The process ID, for measurements. */
  readonly pid: number
  /** The process ID of its PostgreSQL. */
  readonly databasePid: number
  /** Sends a request to the Admin API and returns the body of the response. Throws if its status isn't 2xx. */
  request<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T>
  /** Kills the process (kill -9). `start` starts it again with the same data. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Stops Medusa and its PostgreSQL, and deletes their data. The installation stays. */
  stop(): Promise<void>
}

const packages = ['@medusajs/cli', '@medusajs/framework', '@medusajs/medusa']
const manifest = JSON.stringify({
  private: true,
  dependencies: Object.fromEntries(packages.map(name => [name, medusaVersion])),
})

/** Installs Medusa into the cache of this user, once for each version. Returns its directory. `say` receives the progress. */
async function install(say: (line: string) => void): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tillbridge')
  const directory = join(cache, `medusa-${medusaVersion}`)
  if (existsSync(directory)) return directory
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, 'medusa-new-'))
  writeFileSync(join(draft, 'package.json'), manifest)
  say(`Installing Medusa ${medusaVersion} into ${directory}`)
  // Packages can't run programs during the installation: none of them needs one.
  await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts'],
    draft,
    process.env,
    join(draft, 'install.log'),
  )
  renameSync(draft, directory)
  return directory
}

/** Runs a program to its end. Throws with the path of its log if it fails. */
async function run(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv, log: string): Promise<void> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = createWriteStream(log, { flags: 'a' })
  child.stdout.pipe(output, { end: false })
  child.stderr.pipe(output, { end: false })
  const [code] = await once(child, 'close')
  await finished(output.end())
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed with ${code}: see ${log}`)
}

const user = { email: 'admin@example.com', password: randomBytes(16).toString('hex') }

const config = `const { defineConfig } = require('@medusajs/framework/utils')
const secrets = { jwtSecret: process.env.JWT_SECRET, cookieSecret: process.env.JWT_SECRET }
module.exports = defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    databaseDriverOptions: { connection: { ssl: false } },
    http: { storeCors: '', adminCors: '', authCors: '', ...secrets },
  },
  admin: { disable: true },
})
`

/** Starts Medusa in `directory`, which is created. Takes a few seconds, and a minute more for the first installation. */
export async function startMedusa(directory: string, say: (line: string) => void = () => {}): Promise<Medusa> {
  const installed = await install(say)
  const home = join(directory, 'medusa')
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), manifest)
  writeFileSync(join(home, 'medusa-config.js'), config)
  // Its programs find the packages next to the configuration.
  symlinkSync(join(installed, 'node_modules'), join(home, 'node_modules'))
  const postgres = await startPostgres(join(directory, 'medusa-postgres'))
  const { host, port: databasePort, user: role } = postgres.connection
  const toUrl = (database: string) =>
    `postgres://${role}@localhost:${databasePort}/${database}?host=${encodeURIComponent(host)}`
  const db = openDatabase(toUrl(postgres.connection.database), {
    max: 1,
    statementTimeoutMs: 60_000,
    onFault: () => {},
  })
  await db.run(sql`create database ${raw('medusa')}`)
  await db.close()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const log = join(home, 'medusa.log')
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    NODE_ENV: 'production',
    MEDUSA_DISABLE_TELEMETRY: 'true',
    DATABASE_URL: toUrl('medusa'),
    JWT_SECRET: randomBytes(16).toString('hex'),
    LOG_LEVEL: 'warn',
  }
  const program = join(installed, 'node_modules/@medusajs/cli/cli.js')
  say('Creating the tables of Medusa')
  // The migrations ignore the directory of the socket: they connect by TCP.
  const proxy = await startPostgresProxy(env.DATABASE_URL)
  const migrationEnv = { ...env, DATABASE_URL: proxy.connection }
  await run(process.execPath, [program, 'db:migrate', '--skip-scripts'], home, migrationEnv, log)
  proxy.close()
  await run(process.execPath, [program, 'user', '-e', user.email, '-p', user.password], home, env, log)

  let child: ChildProcess | undefined
  async function start() {
    const output = createWriteStream(log, { flags: 'a' })
    const server = spawn(process.execPath, [program, 'start', '--host', '127.0.0.1', '--port', String(port)], {
      cwd: home,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = server
    server.stdout.pipe(output, { end: false })
    server.stderr.pipe(output, { end: false })
    server.once('close', () => output.end())
    for (const begun = performance.now(); ; await delay(100)) {
      if (server.exitCode !== null) throw new Error(`Medusa ended with ${server.exitCode}: see ${log}`)
      if (performance.now() - begun > 120_000) throw new Error(`Medusa did not start within 120 s: see ${log}`)
      const isReady = await fetch(`${url}/health`)
        .then(({ ok }) => ok)
        .catch(() => false)
      if (isReady) return
    }
  }
  async function end(signal: NodeJS.Signals) {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  const stop = async () => {
    await end('SIGKILL')
    await postgres.stop()
    for (const path of [home, join(directory, 'medusa-postgres')]) rmSync(path, { recursive: true, force: true })
  }
  try {
    say('Starting Medusa')
    await start()
    const token = await createApiKey(url)
    return {
      url,
      token,
      get pid() {
        return child?.pid ?? 0
      },
      get databasePid() {
        return postgres.pid
      },
      request: (method, path, body) => send(url + path, method, toBasic(token), body),
      kill: () => end('SIGKILL'),
      start,
      stop,
    }
  } catch (error) {
    await end('SIGKILL')
    await postgres.stop()
    throw error
  }
}

/** The credentials of a secret API key. */
const toBasic = (token: string) => `Basic ${Buffer.from(`${token}:`).toString('base64')}`

async function send<T>(url: string, method: string, authorization: string | undefined, body?: object): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { ...(authorization && { authorization }), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 500)}`)
  return JSON.parse(text) as T
}

async function createApiKey(url: string): Promise<string> {
  const { token } = await send<{ token: string }>(`${url}/auth/user/emailpass`, 'POST', undefined, user)
  const key = { title: 'Tillbridge', type: 'secret' }
  const { api_key } = await send<{ api_key: { token: string } }>(
    `${url}/admin/api-keys`,
    'POST',
    `Bearer ${token}`,
    key,
  )
  return api_key.token
}
