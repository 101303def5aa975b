import { createHash } from 'node:crypto'
import pg from 'pg'
import { ApiError } from './errors.ts'

/** SQL text with its values apart; made by the `sql` tag only. */
export class Sql {
  readonly strings: readonly string[]
  readonly params: readonly unknown[]
  constructor(strings: readonly string[], params: readonly unknown[]) {
    this.strings = strings
    this.params = params
  }
}

/** SQL as it is written; each `${value}` becomes a bound parameter, each `${sql`…`}` is put in its place. */
export const sql = (strings: TemplateStringsArray, ...params: unknown[]) => new Sql(strings, params)

/** Text from this code base, never from outside, as SQL. */
export const raw = (text: string) => new Sql([text], [])

function write(query: Sql, values: unknown[]): string {
  let text = query.strings[0] ?? ''
  query.params.forEach((param, i) => {
    text += param instanceof Sql ? write(param, values) : `$${values.push(param)}`
    text += query.strings[i + 1]
  })
  return text
}

const names = new Map<string, string>()
/** A statement's name is its text's digest, so that PostgreSQL prepares each text once a connection, and soon plans it no more. */
function nameOf(text: string) {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = createHash('sha1').update(text).digest('hex')
  names.set(text, name)
  return name
}

interface QueryOptions {
  /** Planned anew for the values of each call: for statements whose best plan hangs on them. */
  planned?: boolean
}

/** Something that runs SQL: the pool, or a transaction. */
export interface Db {
  rows<T extends object>(query: Sql, options?: QueryOptions): Promise<T[]>
  /** The first row. */
  row<T extends object>(query: Sql, options?: QueryOptions): Promise<T | undefined>
  /** How many rows were touched. */
  run(query: Sql): Promise<number>
}

export interface Database extends Db {
  /** Runs `work` in one transaction: all of it, or nothing. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** The pool underneath, for COPY and LISTEN. */
  pool: pg.Pool
  close(): Promise<void>
}

type Queryable = { query(config: pg.QueryConfig): Promise<pg.QueryResult> }

function runner(target: Queryable): Db {
  const query = async (statement: Sql, { planned = false }: QueryOptions = {}) => {
    const values: unknown[] = []
    const text = write(statement, values)
    try {
      return await target.query({ text, values, ...(planned ? {} : { name: nameOf(text) }) })
    } catch (error) {
      throw isOutage(error) ? unavailable(error) : error
    }
  }
  return {
    rows: async <T extends object>(statement: Sql, options?: QueryOptions) =>
      (await query(statement, options)).rows as T[],
    row: async <T extends object>(statement: Sql, options?: QueryOptions) =>
      (await query(statement, options)).rows[0] as T,
    run: async statement => (await query(statement)).rowCount ?? 0,
  }
}

/** Whether the database is away or too busy, rather than the statement wrong (SQLSTATE classes 08, 53, 57P; sockets). */
function isOutage(error: unknown) {
  if (!(error instanceof Error)) return false
  const code = String((error as { code?: unknown }).code ?? '')
  if (/^(08|53|57)|^(ECONN|ENOENT|EPIPE|ETIMEDOUT)/.test(code)) return true
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|Query read timeout)/.test(
    error.message,
  )
}

/** A connection that breaks here leaves open whether the work was committed. */
async function commit(tx: Db) {
  try {
    await tx.run(sql`commit`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const unknown = new ApiError('outcome_unknown', undefined, { retryAfter: 2 })
    unknown.cause = error.cause
    throw unknown
  }
}

function unavailable(cause: unknown) {
  const error = new ApiError('back_office_unavailable', undefined, { retryAfter: 2 })
  error.cause = cause
  return error
}

interface Connecting {
  max?: number
  /** Milliseconds a statement may take; 0: as long as it needs (imports, migrations). */
  statementTimeoutMs?: number
  /** Called when an idle connection breaks. */
  onFault?: (error: Error) => void
}

/** Opens a pool. `connection` is a URL, or what `pg` takes. */
export function openDatabase(
  connection: string | pg.ClientConfig,
  { max = 6, statementTimeoutMs = 15_000, onFault }: Connecting = {},
): Database {
  const settings = {
    timezone: 'UTC',
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
  }
  const pool = new pg.Pool({
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    max,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // The client waits a little longer than the server, which answers with a reason.
    ...(statementTimeoutMs ? { query_timeout: statementTimeoutMs + 2_000 } : {}),
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    application_name: 'tillbridge',
  })
  pool.on('error', (error: Error) => onFault?.(error))
  return {
    ...runner(pool),
    pool,
    async transaction(work) {
      const client = await pool.connect().catch(error => {
        throw isOutage(error) ? unavailable(error) : error
      })
      let broken: Error | undefined
      // Without a listener, a connection that breaks between two statements would end the process.
      const onBreak = (fault: Error) => {
        broken = fault
      }
      client.on('error', onBreak)
      try {
        const tx = runner(client)
        await tx.run(sql`begin`)
        try {
          const result = await work(tx)
          await commit(tx)
          return result
        } catch (error) {
          await tx.run(sql`rollback`).catch(onBreak)
          throw error
        }
      } finally {
        // A broken one may have more to complain of; it is not used again.
        if (!broken) client.off('error', onBreak)
        client.release(broken)
      }
    },
    close: () => pool.end(),
  }
}
