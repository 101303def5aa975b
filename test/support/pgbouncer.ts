import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../scenarios/support/free-port.ts'
import { startPostgresProxy } from '../../scenarios/support/postgres-proxy.ts'
import { until } from './processes.ts'

const program = '/usr/sbin/pgbouncer'

/** Why there is no PgBouncer here to test with; undefined where there is one. */
export const noPgBouncer = existsSync(program) ? undefined : `${program} is not there (apt-get install pgbouncer)`

/** A PgBouncer of this machine in front of a database, in transaction mode; `settings` are further lines of its file. */
export async function startPgBouncer(connection: string, settings: readonly string[] = []) {
  // The socket of the bundled PostgreSQL is for its own user alone, and root may not run PgBouncer.
  const inward = await startPostgresProxy(connection)
  const direct = new URL(inward.connection)
  const [user, port] = [decodeURIComponent(direct.username), await freePort()]
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
  const end = async () => {
    pooler.kill('SIGTERM')
    await ended
    inward.close()
    rmSync(home, { recursive: true, force: true })
  }
  const isThere = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  try {
    await until(isThere, 'PgBouncer listens', 10_000)
  } catch (error) {
    const said = readFileSync(log, 'utf8')
    await end()
    throw new Error(`PgBouncer does not listen: ${said}`, { cause: error })
  }
  return { connection: `postgres://${user}@127.0.0.1:${port}${direct.pathname}`, end }
}
