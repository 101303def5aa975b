import pg from 'pg'
import {
  collectMessages,
  forgetStatement,
  getCommand,
  type PgConnection,
  PgQuery,
  type QueryCallback,
  rememberStatement,
  sendMessages,
} from './internals.ts'
import { canPrepare } from './pooler.ts'

/**
 * Statements of one turn of the event loop, sent in one write with one `Sync` at the end (contributing/decisions/0028-batched-statements.md).
 * If one fails, PostgreSQL skips the statements after it, and they fail with the same error.
 * `pg` treats the batch as one query and passes it the messages of all its statements in order.
 */
class Batch extends PgQuery {
  /** The first one is the statement whose result is arriving. */
  readonly #pending = new Set<PgQuery>()
  readonly #completed: PgQuery[] = []

  constructor() {
    super('')
  }

  add({ text, values = [], name }: pg.QueryConfig, callback: QueryCallback) {
    // Not passed as a config object: `pg` copies it property by property, which takes longer than everything else here.
    const query = new PgQuery(text, values, (error, result) => {
      this.#pending.delete(query)
      callback(error, result)
    })
    query.name = name
    // Without values, `pg` would send a simple query, which PostgreSQL treats as a batch of its own.
    query.queryMode = 'extended'
    this.#pending.add(query)
  }

  override submit(connection: PgConnection): null {
    const messages = collectMessages(connection, collector => {
      for (const query of this.#pending) {
        const error = query.submit(collector)
        if (error) query.handleError(error, connection)
      }
    })
    sendMessages(connection, messages)
    this.#exposeCurrent()
    return null
  }

  /** `pg` records prepared statements by the name and text of the query whose result is arriving. */
  #exposeCurrent() {
    const { name, text } = this.#current ?? {}
    Object.assign(this, { name, text })
  }

  get #current() {
    return this.#pending.values().next().value
  }

  override handleRowDescription(message: object) {
    this.#current?.handleRowDescription(message)
  }

  override handleDataRow(message: object) {
    this.#current?.handleDataRow(message)
  }

  override handleCommandComplete(message: object, connection: PgConnection) {
    const query = this.#current
    if (!query) return
    query.handleCommandComplete(message, connection)
    this.#pending.delete(query)
    this.#completed.push(query)
    this.#exposeCurrent()
  }

  override handleEmptyQuery(connection: PgConnection) {
    this.handleCommandComplete({ text: '' }, connection)
  }

  override handleReadyForQuery(connection: PgConnection) {
    for (const query of this.#completed) query.handleReadyForQuery(connection)
  }

  override handleError(error: Error, connection: PgConnection) {
    // Outside a transaction, `Sync` commits the last statement after its result. If that commit fails, the statement has failed.
    const last = this.#pending.size ? undefined : this.#completed.at(-1)
    const isRolledBack = last !== undefined && getCommand(last) !== 'COMMIT'
    if (isRolledBack) this.#completed.pop()
    this.handleReadyForQuery(connection)
    if (isRolledBack) last.handleError(error, connection)
    for (const query of this.#pending) {
      if (query.name !== undefined) {
        // A pooler has registered the name: it would reject it the second time, and prepares the statement when it is used next.
        if (canPrepare(connection)) rememberStatement(connection, query.name, query.text ?? '')
        // PostgreSQL skipped the statement, so it is not prepared.
        else forgetStatement(connection, query.name)
      }
      query.handleError(error, connection)
    }
  }
}

/** The statement that undoes a transaction. */
export const rollback = 'rollback'

/** A client that batches the statements of one turn of the event loop. Statements without a callback are sent on their own. */
export class BatchingClient extends pg.Client {
  #batch: Batch | undefined

  constructor(config?: pg.ClientConfig) {
    super(config)
    // Without a listener, a connection that breaks before the pool has it would end the process.
    this.on('error', () => {})
  }

  // `pg` declares several overloads.
  override query(...args: never[]): never {
    const [config, callback] = args as readonly unknown[]
    if (typeof config === 'object' && typeof callback === 'function')
      return this.#enqueue(config as pg.QueryConfig, callback as QueryCallback)
    this.#flush()
    return Reflect.apply(super.query, this, args) as never
  }

  #enqueue(config: pg.QueryConfig, callback: QueryCallback): never {
    // In a batch with a failed statement, PostgreSQL would skip the rollback.
    if (config.text === rollback) this.#flush()
    if (!this.#batch) {
      this.#batch = new Batch()
      process.nextTick(() => this.#flush())
    }
    return this.#batch.add(config, callback) as never
  }

  #flush() {
    const batch = this.#batch
    this.#batch = undefined
    if (batch) Reflect.apply(super.query, this, [batch])
  }
}
