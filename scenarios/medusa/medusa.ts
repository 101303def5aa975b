import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../support/free-port.ts'
import { type HttpProgram, requestJson, startHttpProgram } from '../support/http-program.ts'
import { installPackages, runProgram } from '../support/install-packages.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'
import { createProgramHome } from '../support/program-home.ts'

/*
 * A real Medusa on this machine: installs it once, starts it with a separate PostgreSQL, and creates an administrator and an API key. After the
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
  /** Stops Medusa and its PostgreSQL. Their data stays in the directory. */
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
export async function startMedusa(directory: string, say: (line: string) => void): Promise<Medusa> {
  const installed = await installPackages(`medusa-${medusaVersion}`, packages, say)
  const home = await createProgramHome(directory, 'medusa', packages, installed)
  const { directory: cwd, log, databaseUrl, databasePid } = home
  writeFileSync(join(cwd, 'medusa-config.js'), config)
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    NODE_ENV: 'production',
    MEDUSA_DISABLE_TELEMETRY: 'true',
    DATABASE_URL: databaseUrl,
    JWT_SECRET: randomBytes(16).toString('hex'),
    LOG_LEVEL: 'warn',
  }
  const program = join(installed, 'node_modules/@medusajs/cli/cli.js')
  const run = (args: string[], environment: NodeJS.ProcessEnv) =>
    runProgram(process.execPath, [program, ...args], cwd, environment, log)
  let server: HttpProgram | undefined
  async function start() {
    const args = [program, 'start', '--host', '127.0.0.1', '--port', String(port)]
    server = await startHttpProgram(process.execPath, args, { cwd, env, log, readyUrl: `${url}/health` })
  }
  const kill = async () => server?.end('SIGKILL')
  async function stop() {
    await kill()
    await home.stopPostgres()
  }
  try {
    say('Creating the tables of Medusa')
    // The migrations ignore the directory of the socket: they connect by TCP.
    const proxy = await startPostgresProxy(databaseUrl)
    await run(['db:migrate', '--skip-scripts'], { ...env, DATABASE_URL: proxy.connection }).finally(proxy.close)
    await run(['user', '-e', administrator.email, '-p', administrator.password], env)
    say('Starting Medusa')
    await start()
    const token = await createApiKey(url)
    const authorization = `Basic ${Buffer.from(`${token}:`).toString('base64')}`
    return {
      url,
      token,
      get pid() {
        return server?.pid ?? 0
      },
      databasePid,
      databaseUrl,
      request: (method, path, body) => requestJson(method, url + path, { authorization, body }),
      kill,
      start,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Signs the administrator in. Returns a token that is valid for a day. */
export const signIn = async (url: string): Promise<string> =>
  (await requestJson<{ token: string }>('POST', `${url}/auth/user/emailpass`, { body: administrator })).token

async function createApiKey(url: string): Promise<string> {
  const { api_key } = await requestJson<{ api_key: { token: string } }>('POST', `${url}/admin/api-keys`, {
    authorization: `Bearer ${await signIn(url)}`,
    body: { title: 'Tillbridge', type: 'secret' },
  })
  return api_key.token
}
