import { execFile, execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

/** Measures the write rate of the database alone with the machine's `pgbench`. */
export interface Tpcb {
  /** Runs pgbench's own transaction (TPC-B: five statements and a commit) with this many clients. */
  measureTransactions(clients: number, seconds: number): Promise<Rate>
  /** Runs updates of one row by all clients. */
  measureOneRow(clients: number, seconds: number): Promise<Rate>
}

export interface Rate {
  perSecond: number
  /** Milliseconds. */
  p99: number
}

/** Number of branches, each with 100,000 accounts. */
const scale = 50

/** Returns undefined if the machine has no `pgbench`, which the bundled PostgreSQL does not contain. */
export async function openTpcb(connection: pg.ClientConfig): Promise<Tpcb | undefined> {
  const program = findProgram()
  if (!program) return
  const database = 'tpcb'
  const { host = '', port = 0, user = '' } = connection
  const at = ['-h', host, '-p', String(port), '-U', user]
  await ensureFilled({ ...connection, database }, () =>
    execFileSync(program, [...at, '-i', '-s', String(scale), '-q', database]),
  )

  /** Runs `script`, or pgbench's own transaction. */
  async function run(clients: number, seconds: number, script = ''): Promise<Rate> {
    const directory = await mkdtemp(join(tmpdir(), 'tillbridge-pgbench-'))
    try {
      await writeFile(join(directory, 'script.sql'), script)
      const load = ['-M', 'prepared', '-n', '-c', String(clients), '-j', '2', '-T', String(Math.ceil(seconds))]
      const options = { cwd: directory, maxBuffer: 1 << 30 }
      const { stdout } = await promisify(execFile)(
        program ?? '',
        [...at, ...load, '-l', ...(script ? ['-f', 'script.sql'] : []), database],
        options,
      )
      const log = await promisify(execFile)('sh', ['-c', 'cut -d" " -f3 pgbench_log.*'], options)
      const times = Float64Array.from(log.stdout.trim().split('\n'), Number).sort()
      return {
        perSecond: Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]),
        p99: (times[Math.floor(times.length * 0.99)] ?? Number.NaN) / 1_000,
      }
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }

  return {
    measureTransactions: (clients, seconds) => run(clients, seconds),
    measureOneRow: (clients, seconds) =>
      run(clients, seconds, 'update pgbench_branches set bbalance = bbalance + 1 where bid = 1;\n'),
  }
}

function findProgram() {
  const [path] = [
    ...(process.env.PATH ?? '').split(':').flatMap(folder => globSync(join(folder, 'pgbench'))),
    ...globSync('/usr/lib/postgresql/*/bin/pgbench'),
  ]
  return path
}

/** Creates the database if it doesn't exist. Calls `fill` if its tables are missing or incomplete. */
async function ensureFilled(connection: pg.ClientConfig & { database: string }, fill: () => unknown) {
  const admin = new pg.Client({ ...connection, database: 'postgres' })
  await admin.connect()
  try {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [connection.database])
    if (!rowCount) await admin.query(`create database ${connection.database}`)
  } finally {
    await admin.end()
  }
  const client = new pg.Client(connection)
  await client.connect()
  const { rows } = await client.query(`select to_regclass('pgbench_accounts_pkey') is not null as full`)
  await client.end()
  if (!rows[0]?.full) fill()
}
