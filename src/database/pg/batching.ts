import pg from 'pg'

/** What `pg` tells a query of PostgreSQL's answers; its types leave that out. */
type Query = Omit<pg.Query, 'submit'> & {
  text?: string | undefined
  name?: string | undefined
  queryMode?: string
  submit(connection: Connection): Error | null
  _result: { command: string | null }
  handleRowDescription(message: object): void
  handleDataRow(message: object): void
  handleCommandComplete(message: object, connection: Connection): void
  handleEmptyQuery(connection: Connection): void
  handleReadyForQuery(connection: Connection): void
  handleError(error: Error, connection: Connection): void
}
type Answered = (error: Error | undefined, result: pg.QueryResult) => void
const Query = pg.Query as unknown as new (text: string, values?: unknown[], answered?: Answered) => Query

/** The same of a connection. */
type Connection = pg.Connection & {
  /** Statements that are sent and may not be prepared yet, by their names. */
  submittedNamedStatements: Record<string, string>
  sync(): void
  _send(message: Buffer): void
}

/**
 * Statements of one transaction that go out with one write, and are answered with one: there is one `Sync`, behind all of them. With one
 * behind each PostgreSQL would send each answer by itself, and wake us up for it. Behind one that fails nothing of the batch is carried out:
 * the others fail with it. `pg` takes it for a query, and tells it the answers of all of them in their order.
 */
class Batch extends Query {
  /** The first is the one whose answer is coming in. */
  readonly #open = new Set<Query>()
  readonly #done: Query[] = []

  constructor() {
    super('')
  }

  add({ text, values = [], name }: pg.QueryConfig, answered: Answered) {
    // Not as a config: `pg` copies that property by property, which takes longer than all else here.
    const query = new Query(text, values, (error, result) => {
      this.#open.delete(query)
      answered(error, result)
    })
    query.name = name
    // A text without values would go out as a simple query, which is answered as if it were a batch of its own.
    query.queryMode = 'extended'
    this.#open.add(query)
  }

  override submit(connection: Connection): null {
    const messages: Buffer[] = []
    const collecting = { stream: {}, _send: (message: Buffer) => messages.push(message), sync() {} }
    const collector: Connection = Object.assign(Object.create(connection), collecting)
    for (const query of this.#open) {
      const refusal = query.submit(collector)
      if (refusal) query.handleError(refusal, connection)
    }
    connection.sync.call(collector)
    connection._send(Buffer.concat(messages))
    this.#turn()
    return null
  }

  /** `pg` keeps what is prepared by the name and the text of the query whose answer is coming in. */
  #turn() {
    const { name, text } = this.#current ?? {}
    Object.assign(this, { name, text })
  }

  get #current() {
    return this.#open.values().next().value
  }

  override handleRowDescription(message: object) {
    this.#current?.handleRowDescription(message)
  }

  override handleDataRow(message: object) {
    this.#current?.handleDataRow(message)
  }

  override handleCommandComplete(message: object, connection: Connection) {
    const query = this.#current
    if (!query) return
    query.handleCommandComplete(message, connection)
    this.#open.delete(query)
    this.#done.push(query)
    this.#turn()
  }

  override handleEmptyQuery(connection: Connection) {
    this.handleCommandComplete({ text: '' }, connection)
  }

  override handleReadyForQuery(connection: Connection) {
    for (const query of this.#done) query.handleReadyForQuery(connection)
  }

  override handleError(error: Error, connection: Connection) {
    // A statement in no transaction is committed by the `Sync`, behind its answer: where that fails it is not kept.
    const last = this.#open.size ? undefined : this.#done.at(-1)
    const isLost = last !== undefined && last._result.command !== 'COMMIT'
    if (isLost) this.#done.pop()
    this.handleReadyForQuery(connection)
    if (isLost) last.handleError(error, connection)
    const { submittedNamedStatements: submitted } = connection
    for (const query of this.#open) {
      // It was not even parsed.
      if (query.name !== undefined) delete submitted[query.name]
      query.handleError(error, connection)
    }
  }
}

/** What undoes a transaction. */
export const rollback = 'rollback'

/** A connection that asks together what it is asked in one turn of the event loop, each with a function that is answered. */
export class BatchingClient extends pg.Client {
  #batch: Batch | undefined

  // Many signatures in one.
  override query(...asked: never[]): never {
    const [config, answered] = asked as readonly unknown[]
    if (typeof config === 'object' && typeof answered === 'function')
      return this.#ask(config as pg.QueryConfig, answered as Answered)
    this.#send()
    return Reflect.apply(super.query, this, asked) as never
  }

  #ask(config: pg.QueryConfig, answered: Answered): never {
    // Behind a statement that fails it would be left out.
    if (config.text === rollback) this.#send()
    if (!this.#batch) {
      this.#batch = new Batch()
      process.nextTick(() => this.#send())
    }
    return this.#batch.add(config, answered) as never
  }

  #send() {
    const batch = this.#batch
    this.#batch = undefined
    if (batch) Reflect.apply(super.query, this, [batch])
  }
}
