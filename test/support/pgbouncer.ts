import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../scenarios/support/free-port.ts'
import { startPostgresProxy } from '../../scenarios/support/postgres-proxy.ts'
import { waitUntil } from './processes.ts'

/** The PgBouncer to test with. PGBOUNCER can name another one, such as a newer release. */
const program = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'

/** The reason to skip a test if PgBouncer isn't installed; undefined if it is. */
export const pgBouncerMissing = existsSync(program)
  ? undefined
  : `${program} is not installed (apt-get install pgbouncer)`

/** True if this PgBouncer supports named prepared statements in transaction mode (since 1.21). */
export const hasPreparedStatements = () => {
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? ''
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(version) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

/** Starts a PgBouncer in transaction mode in front of a database. `settings` are additional lines of its configuration file. */
export async function startPgBouncer(connection: string, settings: readonly string[] = []) {
  // Only its own user can open the bundled PostgreSQL's socket, and PgBouncer can't run as root.
  const proxy = await startPostgresProxy(connection)
  const direct = new URL(proxy.connection)
  const [user, port] = [decodeURIComponent(direct.username), await findFreePort()]
  const home = mkdtempSync(join(tmpdir(), 'tillbridge-pgbouncer-'))
  chmodSync(home, 0o755)
  const file = join(home, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${direct.port} user=${user}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
    ...['pool_mode = transaction', 'max_client_conn = 200', ...settings],
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const log = join(home, 'log')
  const pooler = spawn(program, ['-q', file], {
    stdio: ['ignore', 'ignore', openSync(log, 'w')],
    ...(process.geteuid?.() === 0 && { uid: 65_534, gid: 65_534 }),
  })
  const ended = once(pooler, 'exit')
  const stop = async () => {
    pooler.kill('SIGTERM')
    await ended
    proxy.close()
    rmSync(home, { recursive: true, force: true })
  }
  const isListening = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  try {
    await waitUntil(isListening, 'PgBouncer listens', 10_000)
  } catch (error) {
    const output = readFileSync(log, 'utf8')
    await stop()
    throw new Error(`PgBouncer does not listen: ${output}`, { cause: error })
  }
  return { connection: `postgres://${user}@127.0.0.1:${port}${direct.pathname}`, stop }
}
