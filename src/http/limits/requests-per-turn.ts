import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * Limits the requests that start in one turn of the event loop. A client can send thousands of requests in one packet: pipelined ones over
 * HTTP/1.1, or streams that it resets over HTTP/2. The connections take turns, so a request of another client waits for at most a few turns.
 */

/** Starting so many requests takes a few milliseconds. */
const maxPerTurn = 32
/**
 * A connection with more waiting requests is closed. Over HTTP/2, it can have as many streams. Ending thousands of pipelined requests would
 * block the event loop: Node creates an error with a stack trace for each.
 */
export const maxWaitingRequests = 100

type Exchange = [request: IncomingMessage, response: ServerResponse]

/** Delays the listeners of `request` that the server has now. Listeners that are added later run at once. */
export function limitRequestsPerTurn(server: Server) {
  const listeners = server.listeners('request') as ((...exchange: Exchange) => void)[]
  server.removeAllListeners('request')
  const waiting = new Map<Connection, Exchange[]>()
  let isTurnScheduled = false
  let started = 0

  const start = (exchange: Exchange) => {
    if (isClosed(exchange[0])) return
    started++
    for (const listener of listeners) listener.apply(server, exchange)
  }
  const takeTurn = () => {
    isTurnScheduled = false
    started = 0
    while (waiting.size && started < maxPerTurn)
      for (const [connection, exchanges] of waiting) {
        if (started >= maxPerTurn) break
        const next = exchanges.shift()
        // Inserted again, the connection is the last one.
        waiting.delete(connection)
        if (exchanges.length) waiting.set(connection, exchanges)
        if (next) start(next)
      }
    if (waiting.size) scheduleTurn()
  }
  const scheduleTurn = () => {
    if (isTurnScheduled) return
    isTurnScheduled = true
    setImmediate(takeTurn)
  }

  server.on('request', (...exchange) => {
    if (isClosed(exchange[0])) return
    scheduleTurn()
    if (!waiting.size && started < maxPerTurn) return start(exchange)
    const connection = getConnection(exchange[0])
    const exchanges = waiting.get(connection)
    if (!exchanges) return void waiting.set(connection, [exchange])
    exchanges.push(exchange)
    if (exchanges.length <= maxWaitingRequests) return
    const open = exchanges.filter(([request]) => !isClosed(request))
    if (open.length > maxWaitingRequests) {
      waiting.delete(connection)
      connection.destroy()
    } else waiting.set(connection, open)
  })
}

interface Connection {
  destroy(): unknown
}

/** A request of the server for HTTP/1.1 or of the one for HTTP/2. */
type AnyRequest = IncomingMessage & { stream?: { destroyed: boolean; session?: Connection } }

/** True if the client has reset the stream, or the connection is closed. */
const isClosed = ({ stream, socket }: AnyRequest) => (stream ?? socket).destroyed

/** Returns the session of an HTTP/2 request, and the socket of others. */
const getConnection = ({ stream, socket }: AnyRequest): Connection => stream?.session ?? socket
