import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { findFreePort } from '../../scenarios/support/free-port.ts'
import { type HttpProgram, requestJson, startHttpProgram } from '../../scenarios/support/http-program.ts'
import { installPackages, runProgram } from '../../scenarios/support/install-packages.ts'
import { createProgramHome } from '../../scenarios/support/program-home.ts'

const version = '12.4.0'
/** The npm package of an older Node, because Directus's sandbox can't be compiled for the Node that runs the bench. */
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
  /** Stops Directus and its PostgreSQL. Their data stays in the directory. */
  stop(): Promise<void>
}

/** Starts Directus on loopback in `directory`. The first installation takes a few minutes, because it compiles a part. */
export async function startDirectus(directory: string, say: (line: string) => void): Promise<Directus> {
  const installed = await installPackages(`directus-${version}`, packages, say, build)
  const home = await createProgramHome(directory, 'directus', packages, installed)
  const { directory: workingDirectory, log, databaseUrl, databasePid } = home
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const administrator = { email: 'admin@example.com', password: randomBytes(16).toString('hex') }
  const env = {
    PATH: process.env.PATH,
    HOME: workingDirectory,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: databaseUrl,
    SECRET: randomBytes(32).toString('hex'),
    ADMIN_EMAIL: administrator.email,
    ADMIN_PASSWORD: administrator.password,
    ACCESS_TOKEN_TTL: '1d',
    TELEMETRY: 'false',
    WEBSOCKETS_ENABLED: 'false',
    LOG_LEVEL: 'warn',
  }
  const executable = join(installed, 'node_modules', node, 'bin/node')
  const program = join(installed, 'node_modules/directus/cli.js')
  let server: HttpProgram | undefined
  async function stop() {
    await server?.end('SIGKILL')
    await home.stopPostgres()
  }
  try {
    say('Creating the tables of Directus')
    await runProgram(executable, [program, 'bootstrap'], workingDirectory, env, log)
    server = await startHttpProgram(executable, [program, 'start'], {
      cwd: workingDirectory,
      env,
      log,
      readyUrl: `${url}/server/ping`,
    })
    const { data } = await requestJson<{ data: { access_token: string } }>('POST', `${url}/auth/login`, {
      body: administrator,
    })
    const token = data.access_token
    return {
      port,
      pid: server.pid,
      databasePid,
      databaseUrl,
      token,
      send: async (path, body) =>
        void (await requestJson('POST', url + path, { authorization: `Bearer ${token}`, body })),
      stop,
    }
  } catch (error) {
    await stop()
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
