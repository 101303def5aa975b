import { createHash } from 'node:crypto'
import pg from 'pg'
import { streamOf, watchStatements } from './statements.ts'
import { observed } from './telemetry/statement.ts'

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
  /** Planned anew for the values of each call: for statements whose best plan depends on them. */
  planned?: boolean
}

/**
 * The database is away, or too busy to answer; `cause` says what was met. Nothing is kept of a transaction that ends in it; whether
 * a statement of its own was carried out nobody knows.
 */
export class DatabaseAway extends Error {
  constructor(cause: unknown, message = 'The database cannot be reached.') {
    super(message, { cause })
  }
}

/** PostgreSQL has no room for what is to be written. What is there can be read. */
export class DiskFull extends DatabaseAway {
  constructor(cause: unknown) {
    super(cause, 'The disk of the database is full.')
  }
}

/** It went while a transaction was committed: nobody knows whether the work is kept. */
export class CommitUnknown extends DatabaseAway {
  constructor(cause: unknown) {
    super(cause, 'The database went while the work was committed.')
  }
}

/** Something that runs SQL: the pool, or a transaction. Everything throws `DatabaseAway` where the statement is not to blame. */
export interface Db {
  rows<T extends object>(query: Sql, options?: QueryOptions): Promise<T[]>
  /** The first row. */
  row<T extends object>(query: Sql, options?: QueryOptions): Promise<T | undefined>
  /** How many rows were touched. */
  run(query: Sql): Promise<number>
}

export interface Database extends Db {
  /** Runs `work` in one transaction: all of it, or nothing. What it asks last need not be waited for: it goes out with the commit. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /** The pool underneath, for COPY and LISTEN. */
  pool: pg.Pool
  close(): Promise<void>
}

/** Runs one statement. */
type Ask = (config: pg.QueryConfig) => Promise<pg.QueryResult>

function runner(ask: Ask): Db {
  const query = async (statement: Sql, { planned = false }: QueryOptions = {}) => {
    const values: unknown[] = []
    const text = write(statement, values)
    try {
      return await observed(text, () => ask({ text, values, ...(planned ? {} : { name: nameOf(text) }) }))
    } catch (error) {
      throw told(error)
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

/** SQL on one connection, beside what else is asked of it: COPY. */
export const over = (client: pg.ClientBase): Db => runner(config => client.query(config))

const told = (error: unknown) =>
  isFull(error) ? new DiskFull(error) : isOutage(error) ? new DatabaseAway(error) : error

const isFull = (error: unknown) => (error as { code?: unknown } | undefined)?.code === '53100'

/** Whether the database is away or too busy, rather than the statement wrong (SQLSTATE classes 08, 53, 57P; sockets). */
function isOutage(error: unknown) {
  if (!(error instanceof Error)) return false
  const code = String((error as { code?: unknown }).code ?? '')
  if (/^(08|53|57)|^(ECONN|ENOENT|EPIPE|ETIMEDOUT)/.test(code)) return true
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|Cannot use a pool after)/.test(
    error.message,
  )
}

/** What was asked of one connection and has not been answered yet. */
function inOneLine(ask: Ask) {
  const unanswered = new Set<Promise<pg.QueryResult>>()
  const asked: Ask = config => {
    const answer = ask(config)
    unanswered.add(answer)
    const answered = () => unanswered.delete(answer)
    answer.then(answered, answered)
    return answer
  }
  return {
    tx: runner(asked),
    /**
     * Commits, together with what nobody has waited for: where any of it failed, nothing of the transaction is kept, and the failure is
     * thrown. A connection that breaks here leaves open whether the work is kept.
     */
    async commit() {
      const rest = [...unanswered]
      const ended = observed('commit', () => ask({ text: 'commit', name: nameOf('commit') }))
      const [failed] = (await Promise.allSettled(rest)).flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
      const { command } = await ended.catch(error => {
        throw isOutage(error) && isOutage(failed ?? error) ? new CommitUnknown(error) : told(failed ?? error)
      })
      if (failed !== undefined) throw told(failed)
      // PostgreSQL's answer to `commit` where a statement failed whose failure somebody has put up with.
      if (command !== 'COMMIT') throw new Error('A transaction in which a statement had failed was to be committed.')
    },
  }
}

interface Connecting {
  max?: number
  /** Milliseconds a statement may take; 0: as long as it needs (imports, migrations). */
  statementTimeoutMs?: number
  /** Called when an idle connection breaks. */
  onFault?: (error: Error) => void
  /** Plans each statement once a connection, whatever its values: for short ones that find what they touch by its key. */
  settled?: boolean
}

/** A plan that is made while a table is empty is kept while it fills: it is one by index from the beginning. */
const settledPlans = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' }

/** Opens a pool. `connection` is a URL, or what `pg` takes. */
export function openDatabase(
  connection: string | pg.ClientConfig,
  { max = 6, statementTimeoutMs = 15_000, onFault, settled = false }: Connecting = {},
): Database {
  const settings = {
    timezone: 'UTC',
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    // Row locks and constraints keep writes apart; a stricter level that the database has for all would only refuse them.
    default_transaction_isolation: 'read committed',
    ...(settled && settledPlans),
  }
  const pool = new pg.Pool({
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    max,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // What is asked without waiting for the answer before goes out at once.
    pipeline: true,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
      .join(' '),
    application_name: 'tillbridge',
  })
  pool.on('error', (error: Error) => onFault?.(error))
  // The client waits a little longer than the server, which answers with a reason.
  const watch = watchStatements(statementTimeoutMs && statementTimeoutMs + 2_000)
  return {
    ...runner(config => lend(pool, client => watch.ask(client, config))),
    pool,
    transaction: work =>
      lend(pool, async client => {
        const { tx, commit } = inOneLine(config => watch.ask(client, config))
        // Nobody waits for it: it goes out with the first statement, and where it fails there is no connection.
        tx.run(sql`begin`).catch(() => {})
        try {
          const result = await work(tx)
          await commit()
          return result
        } catch (error) {
          // The end of a connection undoes all of it too.
          await tx.run(sql`rollback`).catch(() => streamOf(client).destroy())
          throw error
        }
      }),
    async close() {
      watch.end()
      await pool.end()
    },
  }
}

/** Lends a connection of the pool, which gets it back unless it broke. */
async function lend<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  let broken: Error | undefined
  // Without a listener from the very moment it is ours, a connection that breaks between two statements would end the process.
  const onBreak = (fault: Error) => {
    broken = fault
  }
  const client = await new Promise<pg.PoolClient>((resolve, reject) =>
    pool.connect((error, lent) => {
      if (!lent) return reject(isOutage(error) ? new DatabaseAway(error) : error)
      lent.on('error', onBreak)
      resolve(lent)
    }),
  )
  try {
    return await work(client)
  } finally {
    client.release(broken)
    // A broken one may have more to complain of; it is not used again.
    if (!broken) client.off('error', onBreak)
  }
}
