import pg from 'pg'
import { perObject } from '../concurrency/ttl-cache.ts'
import { handleLater } from '../telemetry/ignored-errors.ts'
import type { Attributes } from '../telemetry/spans.ts'
import { observeStatement } from '../telemetry/statements.ts'
import {
  type Connection,
  connectToPrimary,
  connectToServer,
  getServerAttributes,
  parseServers,
  withPooledClient,
} from './endpoints.ts'
import { CommitUnknown, DatabaseUnavailable, isOutage, toDatabaseError } from './errors.ts'
import { rollback } from './pg/batching.ts'
import { retryOnContention } from './pg/contention.ts'
import { getConnection, getServerPid, getSocket } from './pg/internals.ts'
import { canPrepare } from './pg/pooler.ts'
import { getStatementName, raw, render, type Sql } from './pg/sql.ts'
import { watchStatements } from './pg/statements.ts'
import { detectStalls } from './pg/watchdog.ts'
import { createSessionSettings, toConnectionOptions, toSetStatement } from './session-settings.ts'

export { raw, Sql, sql } from './pg/sql.ts'

interface QueryOptions {
  /** True to plan each call for its values, because the best plan depends on them. Default false. */
  customPlan?: boolean
  /** LSN that a replica must have replayed to answer (`Db.lsn`). Without it, the primary answers. */
  lsn?: string | undefined
}

/** Runs SQL, in a pool or in a transaction. Every method throws `DatabaseUnavailable` if the statement is not the cause of the failure. */
export interface Db {
  rows<T extends object>(query: Sql, options?: QueryOptions): Promise<T[]>
  /** Returns the first row. */
  row<T extends object>(query: Sql, options?: QueryOptions): Promise<T | undefined>
  /** Returns the number of affected rows. */
  run(query: Sql): Promise<number>
  /** SQL expression for the current LSN of the primary, as text, for reads that replicas can answer. Absent without replicas. */
  lsn?: Sql
}

export interface Database extends Db {
  /**
   * Runs `work` in one transaction. Statements run in the order of their calls, also within one `Promise.all`: a read sees the writes before
   * it. The last statements need not be awaited: they are sent together with the commit.
   */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /**
   * Runs `work` on one connection. `db` is the same object each time for the same connection, and `pid` is the server process of the connection.
   * Behind a pooler, runs `work` in one transaction with a new `db` and without a `pid`.
   */
  withConnection<T>(work: (db: Db, pid: number | undefined) => T | Promise<T>): Promise<T>
  /** The underlying pool, for COPY and LISTEN. */
  pool: pg.Pool
  close(): Promise<void>
}

/** Continues a transaction without waiting for these statements. Its commit waits for them, and fails if one of them fails. */
export function awaitAtCommit(...statements: readonly Promise<unknown>[]) {
  for (const statement of statements) handleLater(statement)
}

type RunStatement = (config: pg.QueryConfig) => Promise<pg.QueryResult>
type GetServer = () => Attributes

/** `getServer` returns the server of a statement, for its span. */
function createDb(runStatement: RunStatement, getServer: GetServer): Db {
  const query = async (statement: Sql, { customPlan = false }: QueryOptions = {}) => {
    const values: unknown[] = []
    const text = render(statement, values)
    try {
      return await observeStatement(text, getServer, () =>
        runStatement({ text, values, ...(customPlan ? {} : { name: getStatementName(text) }) }),
      )
    } catch (error) {
      throw toDatabaseError(error)
    }
  }
  return {
    rows: async <T extends object>(statement: Sql, options?: QueryOptions) =>
      (await query(statement, options)).rows as T[],
    row: async <T extends object>(statement: Sql, options?: QueryOptions) =>
      (await query(statement, options)).rows[0] as T | undefined,
    run: async statement => (await query(statement)).rowCount ?? 0,
  }
}

/** Returns a `Db` on a connection that is also used directly, for COPY. */
export const wrapClient = (client: pg.Client): Db =>
  createDb(
    config => client.query(withoutName(config)),
    () => getServerAttributes(client),
  )

/** Delays before the retries of a single statement. */
const immediateRetries = [0, 0]

/** A transaction on one connection. It tracks the statements without a result. */
interface OpenTransaction {
  run: RunStatement
  tx: Db
  /**
   * Commits together with the statements that were not awaited. If one of them fails, the transaction is rolled back, and its error is
   * thrown. Throws `CommitUnknown` if the connection breaks, because the work may be committed.
   */
  commit(): Promise<void>
  /** Rolls back. Statements that `work` runs afterwards are rejected. */
  undo(): Promise<unknown>
}

function beginTransaction(runStatement: RunStatement, getServer: GetServer): OpenTransaction {
  const pending = new Set<Promise<pg.QueryResult>>()
  let cause: unknown
  // A statement after a failed one fails too (25P02), or is not prepared (26000). Throw the original error instead: the newest one, because a
  // savepoint can undo earlier ones.
  const throwCause = (error: { code?: unknown }) => {
    if (error.code === '25P02' || error.code === '26000') throw cause ?? error
    cause = error
    throw error
  }
  let isOver = false
  const run: RunStatement = config => {
    if (isOver) return Promise.reject(new Error('The transaction is over.'))
    const result = runStatement(config).catch(throwCause)
    pending.add(result)
    const removePending = () => pending.delete(result)
    result.then(removePending, removePending)
    return result
  }
  return {
    run,
    tx: createDb(run, getServer),
    async commit() {
      const unfinished = [...pending]
      isOver = true
      const committed = observeStatement('commit', getServer, () =>
        runStatement({ text: 'commit', name: getStatementName('commit') }),
      )
      const [failure] = (await Promise.allSettled(unfinished)).flatMap(result =>
        result.status === 'rejected' ? [result.reason] : [],
      )
      const { command } = await committed.catch(error => {
        // If PostgreSQL itself rejected a statement, nothing is committed. A pooler that lost PostgreSQL reports class 08.
        const isRejected = failure instanceof pg.DatabaseError && !failure.code?.startsWith('08')
        const isOutcomeKnown = isRejected || !isOutage(failure ?? error)
        throw isOutage(error) && !isOutcomeKnown ? new CommitUnknown(error) : toDatabaseError(failure ?? error)
      })
      if (failure !== undefined) throw toDatabaseError(failure)
      // PostgreSQL answers `commit` with ROLLBACK if a statement failed and the caller ignored its error.
      if (command !== 'COMMIT') throw new Error('commit rolled back: a statement of the transaction failed')
    },
    undo() {
      isOver = true
      return observeStatement('rollback', getServer, () =>
        runStatement({ text: rollback, name: getStatementName(rollback) }),
      )
    },
  }
}

interface DatabaseOptions {
  /** Maximum number of connections. Default 6. */
  max?: number
  /** Milliseconds a statement can take; 0: no limit, for imports and migrations. Default 15,000. */
  statementTimeoutMs?: number
  /** Called when an idle connection breaks. */
  onFault?: (error: Error) => void
  /** True to plan each statement once per connection, whatever its values. For short statements that find their rows by key. Default false. */
  genericPlans?: boolean
  /** True if a pooler between Tillbridge and PostgreSQL lends its connections per transaction, so that session state is lost. Default false. */
  pooled?: boolean
  /** True to connect to the first server of the URL, even if it is a standby. Default false. */
  acceptStandby?: boolean
  /** Milliseconds a statement can wait for a lock; 0: no limit. Default 0. */
  lockTimeoutMs?: number
}

/** Removes the name, under which PostgreSQL would prepare the statement in a session that the next statement may not be in. */
const withoutName = ({ text, values = [] }: pg.QueryConfig): pg.QueryConfig => ({ text, values })

/** Returns a statement for a pooler, which prepares equal texts once. Statements with generic plans get a text that no other statement has. */
function toPooledStatement(client: pg.PoolClient, config: pg.QueryConfig, genericPlans: boolean): pg.QueryConfig {
  if (!canPrepare(getConnection(client))) return withoutName(config)
  return genericPlans && config.text !== rollback ? { ...config, text: `${config.text} -- generic plan` } : config
}

/** Creates a pool of at most `max` connections. `options`: the session settings of each connection. */
const createPool = (Client: new (config?: pg.ClientConfig) => pg.Client, max: number, options: string | undefined) =>
  new pg.Pool({
    Client,
    max,
    connectionTimeoutMillis: 5_000,
    // Frees the prepared statements and caches of a connection once an hour.
    maxLifetimeSeconds: 3_600,
    keepAlive: true,
    // Sends statements without waiting for the results of earlier ones.
    pipeline: true,
    ...(options !== undefined && { options }),
    application_name: 'tillbridge',
  })

/** Opens a pool. If the URL names several servers, it connects to the primary. */
export function openDatabase(connection: Connection, options: DatabaseOptions = {}): Database {
  const {
    max = 6,
    statementTimeoutMs = 15_000,
    onFault,
    genericPlans = false,
    pooled = false,
    lockTimeoutMs = 0,
  } = options
  const settings = createSessionSettings({ statementTimeoutMs, genericPlans, lockTimeoutMs })
  const { Client, tries, getNextServer } = options.acceptStandby
    ? connectToServer(parseServers(connection)[0] ?? {}, { pooled })
    : connectToPrimary(connection, { pooled })
  const pool = createPool(Client, max, pooled ? undefined : toConnectionOptions(settings))
  pool.on('error', (error: Error) => onFault?.(error))
  const stallDetector = detectStalls(Client)
  // Longer than the limit of the server, which reports the reason.
  const watchdog = watchStatements(statementTimeoutMs && statementTimeoutMs + 2_000, stallDetector)
  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>) => {
    if (stallDetector.isStalled()) throw new DatabaseUnavailable(undefined, 'The database does not answer.')
    return withPooledClient(pool, tries, work)
  }
  const createRunner =
    (client: pg.PoolClient): RunStatement =>
    config =>
      watchdog.run(client, pooled ? toPooledStatement(client, config, genericPlans) : config)
  const inTransaction = <T>(work: (transaction: OpenTransaction) => T | Promise<T>) =>
    withClient(async client => {
      const transaction = beginTransaction(createRunner(client), () => getServerAttributes(client))
      // Not awaited: they are sent with the first statement. If they fail, the connection is broken.
      handleLater(transaction.tx.run(raw(pooled ? 'begin isolation level read committed' : 'begin')))
      if (pooled) handleLater(transaction.tx.run(raw(toSetStatement(settings))))
      try {
        const result = await work(transaction)
        await transaction.commit()
        return result
      } catch (error) {
        await transaction.undo().catch(rollbackError => {
          // Closing the connection rolls back too. The event makes the pool discard the connection.
          getSocket(client).destroy()
          client.emit('error', rollbackError)
        })
        throw error
      }
    })
  const runAlone: RunStatement = config => withClient(client => createRunner(client)(config))
  const getDb = perObject(
    (client: pg.PoolClient): Db => createDb(createRunner(client), () => getServerAttributes(client)),
  )
  // The whole transaction is sent at once, so it takes no longer than a single statement.
  const runInTransaction: RunStatement = config =>
    inTransaction(({ run }) => ({ result: run(config) })).then(
      ({ result }) => result,
      error => Promise.reject(error instanceof CommitUnknown ? new DatabaseUnavailable(error.cause) : error),
    )
  return {
    ...createDb(
      config => retryOnContention(() => (pooled ? runInTransaction : runAlone)(config), immediateRetries),
      getNextServer,
    ),
    pool,
    transaction: work => inTransaction(({ tx }) => work(tx)),
    withConnection: work =>
      pooled
        ? inTransaction(({ tx }) => work(tx, undefined))
        : withClient(async client => work(getDb(client), getServerPid(client))),
    async close() {
      watchdog.end()
      await pool.end()
    },
  }
}
