import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../scenarios/support/free-port.ts'
import { startHttpProgram } from '../../scenarios/support/http-program.ts'
import { installPackages, runProgram, toManifest } from '../../scenarios/support/install-packages.ts'
import { openDatabase, raw, sql } from '../../src/database/db.ts'
import { startPostgres } from '../../src/postgres/postgres.ts'

const version = '12.4.0'
/** Directus's sandbox can't be compiled for the Node that runs the bench. */
const node = `node-${process.platform}-${process.arch}`
const packages = { directus: version, [node]: '22.23.3' }

/** A running Directus without collections. */
export interface Directus {
  port: number
  pid: number
  /** Its PostgreSQL: the process ID, and the connection string of its database. */
  databasePid: number
  databaseUrl: string
  /** The access token of its administrator. */
  token: string
  /** Sends a request to the API as the administrator. Throws if its status isn't 2xx. */
  send(path: string, body: object): Promise<void>
  /** Stops it and its PostgreSQL, and deletes their data. */
  stop(): Promise<void>
}

/** Starts Directus on loopback in `directory`. The first installation takes some minutes, because it compiles a part. */
export async function startDirectus(directory: string, say: (line: string) => void): Promise<Directus> {
  const installed = await installPackages(`directus-${version}`, packages, say, build)
  const home = join(directory, 'directus')
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), toManifest(packages))
  symlinkSync(join(installed, 'node_modules'), join(home, 'node_modules'))
  const postgres = await startPostgres(join(directory, 'directus-postgres'))
  const { host, port: databasePort, user } = postgres.connection
  const toUrl = (database: string) =>
    `postgres://${user}@localhost:${databasePort}/${database}?host=${encodeURIComponent(host)}`
  const db = openDatabase(toUrl(postgres.connection.database), { max: 1, onFault: () => {} })
  await db.run(sql`drop database if exists ${raw('directus')}`)
  await db.run(sql`create database ${raw('directus')}`)
  await db.close()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const administrator = { email: 'admin@example.com', password: randomBytes(16).toString('hex') }
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: toUrl('directus'),
    SECRET: randomBytes(32).toString('hex'),
    ADMIN_EMAIL: administrator.email,
    ADMIN_PASSWORD: administrator.password,
    ACCESS_TOKEN_TTL: '1d',
    TELEMETRY: 'false',
    WEBSOCKETS_ENABLED: 'false',
    LOG_LEVEL: 'warn',
  }
  const log = join(home, 'directus.log')
  const executable = join(installed, 'node_modules', node, 'bin/node')
  const program = join(installed, 'node_modules/directus/cli.js')
  const stopPostgres = async () => {
    await postgres.stop()
    for (const path of [home, join(directory, 'directus-postgres')]) rmSync(path, { recursive: true, force: true })
  }
  try {
    say('Creating the tables of Directus')
    await runProgram(executable, [program, 'bootstrap'], home, env, log)
    const server = await startHttpProgram(executable, [program, 'start'], {
      cwd: home,
      env,
      log,
      readyUrl: `${url}/server/ping`,
    })
    const { data } = await post(`${url}/auth/login`, administrator)
    return {
      port,
      pid: server.pid,
      databasePid: postgres.pid,
      databaseUrl: toUrl('directus'),
      token: data.access_token,
      send: async (path, body) => void (await post(url + path, body, data.access_token)),
      async stop() {
        await server.end('SIGKILL')
        await stopPostgres()
      },
    }
  } catch (error) {
    await stopPostgres()
    throw error
  }
}

/** Compiles Directus's sandbox for the installed Node. */
async function build(directory: string, log: string) {
  const nodeDirectory = join(directory, 'node_modules', node)
  const PATH = `${join(nodeDirectory, 'bin')}:${process.env.PATH}`
  const env = { ...process.env, PATH, npm_config_nodedir: nodeDirectory }
  await runProgram('npm', ['rebuild', 'isolated-vm'], directory, env, log)
}

async function post(url: string, body: object, token?: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text.slice(0, 500)}`)
  return JSON.parse(text)
}
