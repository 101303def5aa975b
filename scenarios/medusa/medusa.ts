import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, raw, sql } from '../../src/database/db.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'
import { freePort } from '../support/free-port.ts'
import { type HttpProgram, startHttpProgram } from '../support/http-program.ts'
import { installPackages, runProgram, toManifest } from '../support/install-packages.ts'
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
  /** Its PostgreSQL: the process ID, and the connection string of its database. */
  readonly databasePid: number
  readonly databaseUrl: string
  /** Sends a request to the Admin API and returns the body of the response. Throws if its status isn't 2xx. */
  request<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T>
  /** Kills the process (kill -9). `start` starts it again with the same data. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Stops Medusa and its PostgreSQL, and deletes their data. The installation stays. */
  stop(): Promise<void>
}

const names = ['@medusajs/cli', '@medusajs/framework', '@medusajs/medusa']
const packages = Object.fromEntries(names.map(name => [name, medusaVersion]))

const administrator = { email: 'admin@example.com', password: randomBytes(16).toString('hex') }

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
  const installed = await installPackages(`medusa-${medusaVersion}`, packages, say)
  const home = join(directory, 'medusa')
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), toManifest(packages))
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
  await runProgram(process.execPath, [program, 'db:migrate', '--skip-scripts'], home, migrationEnv, log)
  proxy.close()
  await runProgram(
    process.execPath,
    [program, 'user', '-e', administrator.email, '-p', administrator.password],
    home,
    env,
    log,
  )

  let server: HttpProgram | undefined
  async function start() {
    const args = [program, 'start', '--host', '127.0.0.1', '--port', String(port)]
    server = await startHttpProgram(process.execPath, args, { cwd: home, env, log, readyUrl: `${url}/health` })
  }
  const kill = async () => server?.end('SIGKILL')
  const stop = async () => {
    await kill()
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
        return server?.pid ?? 0
      },
      databasePid: postgres.pid,
      databaseUrl: env.DATABASE_URL,
      request: (method, path, body) => send(url + path, method, toBasic(token), body),
      kill,
      start,
      stop,
    }
  } catch (error) {
    await kill()
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

/** Signs the administrator in. Returns a token that is valid for a day. */
export const signIn = async (url: string): Promise<string> =>
  (await send<{ token: string }>(`${url}/auth/user/emailpass`, 'POST', undefined, administrator)).token

async function createApiKey(url: string): Promise<string> {
  const key = { title: 'Tillbridge', type: 'secret' }
  const { api_key } = await send<{ api_key: { token: string } }>(
    `${url}/admin/api-keys`,
    'POST',
    `Bearer ${await signIn(url)}`,
    key,
  )
  return api_key.token
}
