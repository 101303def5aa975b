import pg from 'pg'
import { handleLater } from '../telemetry/ignored-errors.ts'
import { observeStatement } from '../telemetry/statements.ts'
import { type Connection, lend, primaryAmong, serversIn, straightTo } from './endpoints.ts'
import { CommitUnknown, DatabaseAway, isOutage, told } from './errors.ts'
import { rollback } from './pg/batching.ts'
import { pastContention } from './pg/contention.ts'
import { nameOf, raw, type Sql, written } from './pg/sql.ts'
import { processOf, streamOf, watchStatements } from './pg/statements.ts'
import { watchStandstill } from './pg/watchdog.ts'
import { asOptions, asStatement, settingsFor } from './session-settings.ts'

export { raw, Sql, sql } from './pg/sql.ts'

interface QueryOptions {
  /** Planned anew for the values of each call: for statements whose best plan depends on them. */
  planned?: boolean
  /** Where in the log of the primary all is that is asked about (`Db.position`): a replica that has come so far may answer. */
  position?: string | undefined
}

/** Something that runs SQL: the pool, or a transaction. Everything throws `DatabaseAway` where the statement is not to blame. */
export interface Db {
  rows<T extends object>(query: Sql, options?: QueryOptions): Promise<T[]>
  /** The first row. */
  row<T extends object>(query: Sql, options?: QueryOptions): Promise<T | undefined>
  /** How many rows were touched. */
  run(query: Sql): Promise<number>
  /** SQL of where in its log the primary is now, as a text: for reads that replicas may answer. Absent where there are none. */
  position?: Sql
}

export interface Database extends Db {
  /**
   * Runs `work` in one transaction: all of it, or nothing. Statements are carried out in the order in which they are asked, also those of
   * one `Promise.all`: one that reads sees what those before it have written. What it asks last need not be waited for: it goes out with
   * the commit.
   */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
  /**
   * Asks over one connection, which is the same value each time, of the server's process `pid`; behind a pooler in one transaction, by a
   * value of its own, of whichever.
   */
  together<T>(work: (db: Db, pid: number | undefined) => T | Promise<T>): Promise<T>
  /** The pool underneath, for COPY and LISTEN. */
  pool: pg.Pool
  close(): Promise<void>
}

/** Of statements of a transaction that nobody waits for: they go out with the commit, which fails where they do. */
export function unawaited(...statements: readonly Promise<unknown>[]) {
  for (const each of statements) handleLater(each)
}

/** Runs one statement. */
type Ask = (config: pg.QueryConfig) => Promise<pg.QueryResult>

function runner(ask: Ask): Db {
  const query = async (statement: Sql, { planned = false }: QueryOptions = {}) => {
    const values: unknown[] = []
    const text = written(statement, values)
    try {
      return await observeStatement(text, () => ask({ text, values, ...(planned ? {} : { name: nameOf(text) }) }))
    } catch (error) {
      throw told(error)
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

/** SQL on one connection, beside what else is asked of it: COPY. */
export const over = (client: pg.ClientBase): Db => runner(config => client.query(unnamed(config)))

/** The waits of a statement by itself: it is asked again at once. */
const twiceAtOnce = [0, 0]

/** A transaction on one connection, which knows what was asked in it and has not been answered yet. */
interface OpenTransaction {
  ask: Ask
  tx: Db
  /**
   * Commits, together with what nobody has waited for: where any of it failed, nothing of the transaction is kept, and the failure is
   * thrown. A connection that breaks here leaves open whether the work is kept.
   */
  commit(): Promise<void>
  /** Undoes it. What a part of the work that nobody has waited for asks from now on is asked of nobody. */
  undo(): Promise<unknown>
}

function transactionOver(ask: Ask): OpenTransaction {
  const unanswered = new Set<Promise<pg.QueryResult>>()
  let cause: unknown
  // What follows a statement that failed fails because it follows, also where it was to be prepared behind it: told is the failure itself,
  // the newest where a savepoint undid others.
  const orCause = (error: { code?: unknown }) => {
    if (error.code === '25P02' || error.code === '26000') throw cause ?? error
    cause = error
    throw error
  }
  let isOver = false
  const asked: Ask = config => {
    if (isOver) return Promise.reject(new Error('The transaction is over.'))
    const answer = ask(config).catch(orCause)
    unanswered.add(answer)
    const answered = () => unanswered.delete(answer)
    answer.then(answered, answered)
    return answer
  }
  return {
    ask: asked,
    tx: runner(asked),
    async commit() {
      const rest = [...unanswered]
      isOver = true
      const ended = observeStatement('commit', () => ask({ text: 'commit', name: nameOf('commit') }))
      const [failed] = (await Promise.allSettled(rest)).flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
      const { command } = await ended.catch(error => {
        // Behind a statement that PostgreSQL itself has ended nothing is committed. Of class 08 is what a pooler says that has lost PostgreSQL.
        const isEnded = failed instanceof pg.DatabaseError && !failed.code?.startsWith('08')
        const isKnown = isEnded || !isOutage(failed ?? error)
        throw isOutage(error) && !isKnown ? new CommitUnknown(error) : told(failed ?? error)
      })
      if (failed !== undefined) throw told(failed)
      // PostgreSQL's answer to `commit` where a statement failed whose failure somebody has put up with.
      if (command !== 'COMMIT') throw new Error('A transaction in which a statement had failed was to be committed.')
    },
    undo() {
      isOver = true
      return observeStatement('rollback', () => ask({ text: rollback, name: nameOf(rollback) }))
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
  /** Between us and PostgreSQL there is a pooler that lends its connections for a transaction at a time: nothing of a session stays. */
  pooled?: boolean
  /** Not the primary among servers, but this one, whatever it is. */
  straight?: boolean
  /** Milliseconds a statement may wait for a lock; 0: as long as it may take. */
  lockTimeoutMs?: number
}

/** Without the name that PostgreSQL would keep it prepared under, in a session that the next one may not be in. */
const unnamed = ({ text, values = [] }: pg.QueryConfig): pg.QueryConfig => ({ text, values })

/** Opens a pool. Of a URL that names several servers it is of the one that is the primary. */
export function openDatabase(connection: Connection, connecting: Connecting = {}): Database {
  const {
    max = 6,
    statementTimeoutMs = 15_000,
    onFault,
    settled = false,
    pooled = false,
    lockTimeoutMs = 0,
  } = connecting
  const settings = settingsFor({ statementTimeoutMs, settled, lockTimeoutMs })
  const { Client, tries } = connecting.straight ? straightTo(serversIn(connection)[0] ?? {}) : primaryAmong(connection)
  const pool = new pg.Pool({
    Client,
    max,
    connectionTimeoutMillis: 5_000,
    // What a connection has prepared, and cached, goes with it.
    maxLifetimeSeconds: 3_600,
    keepAlive: true,
    // What is asked without waiting for the answer before goes out at once.
    pipeline: true,
    ...(!pooled && { options: asOptions(settings) }),
    application_name: 'tillbridge',
  })
  pool.on('error', (error: Error) => onFault?.(error))
  // The client waits a little longer than the server, which answers with a reason.
  const standstill = watchStandstill(Client)
  const watch = watchStatements(statementTimeoutMs && statementTimeoutMs + 2_000, standstill)
  const lent = async <T>(work: (client: pg.PoolClient) => Promise<T>) => {
    if (standstill.isStill()) throw new DatabaseAway(undefined, 'The database stands still.')
    return lend(pool, tries, work)
  }
  const askOf =
    (client: pg.PoolClient): Ask =>
    config =>
      watch.ask(client, pooled ? unnamed(config) : config)
  const inTransaction = <T>(work: (transaction: OpenTransaction) => T | Promise<T>) =>
    lent(async client => {
      const transaction = transactionOver(askOf(client))
      // Nobody waits for these: they go out with the first statement, and where they fail there is no connection.
      handleLater(transaction.tx.run(raw(pooled ? 'begin isolation level read committed' : 'begin')))
      if (pooled) handleLater(transaction.tx.run(raw(asStatement(settings))))
      try {
        const result = await work(transaction)
        await transaction.commit()
        return result
      } catch (error) {
        await transaction.undo().catch(fault => {
          // The end of a connection undoes all of it too, and its pool is told: nobody is lent it any more.
          streamOf(client).destroy()
          client.emit('error', fault)
        })
        throw error
      }
    })
  const alone: Ask = config => lent(client => askOf(client)(config))
  const known = new WeakMap<pg.PoolClient, Db>()
  const overIt = (client: pg.PoolClient): Db => {
    const db = known.get(client) ?? runner(askOf(client))
    known.set(client, db)
    return db
  }
  // It goes out with all of its transaction, which takes no longer.
  const inItsOwn: Ask = config =>
    inTransaction(({ ask }) => ({ answer: ask(config) })).then(
      ({ answer }) => answer,
      error => Promise.reject(error instanceof CommitUnknown ? new DatabaseAway(error.cause) : error),
    )
  return {
    ...runner(config => pastContention(() => (pooled ? inItsOwn : alone)(config), twiceAtOnce)),
    pool,
    transaction: work => inTransaction(({ tx }) => work(tx)),
    together: work =>
      pooled
        ? inTransaction(({ tx }) => work(tx, undefined))
        : lent(async client => work(overIt(client), processOf(client))),
    async close() {
      watch.end()
      await pool.end()
    },
  }
}
