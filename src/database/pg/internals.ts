import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'

/**
 * The private fields of `pg` and Node that Tillbridge uses. Only this file names them, and test/conventions/internals.test.ts pins
 * them, so an update that changes one fails there. Reason: contributing/decisions/0028-batched-statements.md.
 */

export type QueryCallback = (error: Error | undefined, result: pg.QueryResult) => void

/** A query as `pg` runs it. `pg` calls the `handle…` methods with the messages of PostgreSQL. */
export type PgQuery = Omit<pg.Query, 'submit'> & {
  text?: string | undefined
  name?: string | undefined
  queryMode?: string
  submit(connection: PgConnection): Error | null
  _result: { command: string | null }
  handleRowDescription(message: object): void
  handleDataRow(message: object): void
  handleCommandComplete(message: object, connection: PgConnection): void
  handleEmptyQuery(connection: PgConnection): void
  handleReadyForQuery(connection: PgConnection): void
  handleError(error: Error, connection: PgConnection): void
}
export const PgQuery = pg.Query as unknown as new (
  text: string,
  values?: unknown[],
  callback?: QueryCallback,
) => PgQuery

/** A connection to PostgreSQL, below the client. */
export type PgConnection = pg.Connection & {
  stream: Duplex
  /** Statements that were sent and may not be prepared yet, by name. */
  submittedNamedStatements: Record<string, string>
  /** The texts of prepared statements, by name. */
  parsedStatements: Record<string, string>
  sync(): void
  _send(message: Buffer): void
}

/** Returns the command tag of a query's result, such as `COMMIT`. */
export const getCommand = (query: PgQuery): string | null => query._result.command

/** Returns the messages that `submit` sends, without sending them. */
export function collectMessages(connection: PgConnection, submit: (collector: PgConnection) => void): Buffer {
  const messages: Buffer[] = []
  const collector: PgConnection = Object.assign(Object.create(connection), {
    stream: {},
    _send: (message: Buffer) => messages.push(message),
    sync() {},
  })
  submit(collector)
  connection.sync.call(collector)
  return Buffer.concat(messages)
}

export const sendMessages = (connection: PgConnection, messages: Buffer) => connection._send(messages)

/** Removes a statement that PostgreSQL has not parsed, so that it is sent again in full. */
export function forgetStatement(connection: PgConnection, name: string) {
  delete connection.submittedNamedStatements[name]
}

/** Records a statement as prepared, so that only its name is sent. */
export function rememberStatement(connection: PgConnection, name: string, text: string) {
  delete connection.submittedNamedStatements[name]
  connection.parsedStatements[name] = text
}

/** Returns the connection below a client; it emits PostgreSQL's messages. */
export const getConnection = (client: pg.ClientBase) =>
  (client as unknown as { connection: PgConnection & NodeJS.EventEmitter }).connection

/** Returns the socket of a client. Destroying it fails whatever is in flight. */
export const getSocket = (client: pg.ClientBase): Duplex => getConnection(client).stream

/**
 * Makes connecting fail, and destroys the connection. The rest of the server's greeting has usually arrived with its beginning, and `pg`
 * would report a connection after the error.
 */
export function rejectConnection(client: pg.ClientBase, error: Error) {
  const connection = getConnection(client)
  connection.removeAllListeners('readyForQuery')
  connection.emit('error', error)
  connection.stream.destroy()
}

/** Returns the process ID of the server process that greeted a client. */
export const getServerPid = (client: pg.ClientBase) => (client as unknown as { processID: number }).processID

/** Returns the client class of a pool, which knows the servers that the pool connects to. */
export const getClientClass = (pool: pg.Pool) => pool.options.Client as unknown as typeof pg.Client

/** Returns the response that Node's HTTP/1.1 parser sends next on a socket. No public API gives it. */
export const getCurrentResponse = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage
