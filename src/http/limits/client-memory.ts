import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createSample, type Sample } from '../../telemetry/samples.ts'

/**
 * Limits the memory that clients occupy: connections, open requests and responses that they have not read. The costs are estimates.
 * If their sum exceeds the budget, the connection with the highest cost times the time since its last progress is closed. A client that
 * reads its responses is therefore served however many others don't.
 */

/** Estimated bytes of a connection with its TLS state, including garbage until it is collected. */
const connectionCost = 128 * 1024
/** Estimated bytes of an open request by the major version of HTTP: its objects, and the buffers of its stream. */
const requestCosts: Readonly<Record<number, number>> = { 1: 96 * 1024, 2: 192 * 1024 }
/** The largest body that is kept in memory before its request is handled. */
const maxBodyCost = 256 * 1024
/** Bytes of a response that are handed to a connection at a time. TLS encrypts a copy of them. */
const chunkBytes = 16 * 1024
/** Milliseconds between two log entries about closed connections. */
const logIntervalMs = 60_000

interface Connection {
  socket: Socket
  cost: number
  progressAt: number
}

interface ClientMemoryOptions {
  /** The sum of all costs in bytes. */
  budget: number
  log: Logger
}

/** The connections of a server. */
export interface ClientMemory {
  samples(): Sample[]
  /** Closes all connections at once. An HTTP/2 server can't close its own. */
  closeAll(): void
}

export function limitClientMemory(server: FastifyInstance, { budget, log }: ClientMemoryOptions): ClientMemory {
  const connections = new Map<string, Connection>()
  let total = 0
  let closed = 0
  let loggedAt = -Infinity

  const forget = (key: string, connection: Connection) => {
    if (connections.get(key) !== connection) return
    connections.delete(key)
    total -= connection.cost
    connection.cost = 0
  }

  /** Adds a cost. Returns the function that removes it, once. */
  const charge = (key: string, bytes: number) => {
    const connection = connections.get(key)
    if (!connection) return () => {}
    connection.cost += bytes
    total += bytes
    if (total > budget) closeWorst()
    return () => {
      if (connections.get(key) !== connection) return
      connection.cost -= bytes
      total -= bytes
      connection.progressAt = performance.now()
    }
  }

  const closeWorst = () => {
    const now = performance.now()
    const rank = ({ cost, progressAt }: Connection) => cost * (now - progressAt + 1)
    while (total > budget) {
      let worst: [string, Connection] | undefined
      for (const entry of connections) if (!worst || rank(entry[1]) > rank(worst[1])) worst = entry
      if (!worst) return
      forget(...worst)
      worst[1].socket.destroy()
      closed++
    }
    if (now - loggedAt < logIntervalMs) return
    loggedAt = now
    log.warn({ connections: connections.size, closed }, 'connections closed to limit memory: clients read too slowly')
  }

  server.server.on('connection', (socket: Socket) => {
    const key = getKey(socket)
    if (key === undefined) return void socket.destroy()
    const connection = { socket, cost: 0, progressAt: performance.now() }
    connections.set(key, connection)
    socket.once('close', () => forget(key, connection))
    charge(key, connectionCost)
  })

  const keys = new WeakMap<IncomingMessage, string>()
  // Not a hook of Fastify: a request can wait before it starts.
  server.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const key = getKey(request.socket) ?? ''
    keys.set(request, key)
    const release = charge(key, (requestCosts[request.httpVersionMajor] ?? 0) + getBodyCost(request))
    response.once('close', release)
  })

  server.addHook('onSend', (request, reply, payload, done) => {
    const key = keys.get(request.raw) ?? ''
    // A string belongs to one response. A buffer is a cached file, which all its responses share.
    if (typeof payload === 'string') reply.raw.once('close', charge(key, payload.length))
    const isBody = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (!isBody || payload.length <= chunkBytes || request.method === 'HEAD') return done()
    const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload as string)
    reply.header('content-length', String(bytes.length))
    done(
      null,
      sendInChunks(bytes, size => charge(key, size)),
    )
  })

  return {
    samples: () => [
      createSample('tillbridge_connections', {}, connections.size),
      createSample('tillbridge_client_memory_bytes', {}, total),
      createSample('tillbridge_connections_closed_total', {}, closed),
    ],
    closeAll() {
      for (const { socket } of connections.values()) socket.destroy()
    },
  }
}

/** Identifies a connection while it is open. A TLS socket and the TCP socket below it have the same key. */
const getKey = ({ remoteAddress, remotePort, localAddress }: Socket) =>
  remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localAddress}`

function getBodyCost({ complete, headers }: IncomingMessage) {
  const length = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : maxBodyCost))
  return complete ? 0 : Math.min(length || 0, maxBodyCost)
}

/** Returns a stream that reads its next chunk only after the previous one has been sent. */
function sendInChunks(bytes: Buffer, charge: (size: number) => () => void): Readable {
  let offset = 0
  let release = () => {}
  return new Readable({
    // Without it, the stream would read ahead.
    highWaterMark: 0,
    read() {
      release()
      const chunk = bytes.subarray(offset, offset + chunkBytes)
      offset += chunk.length
      release = charge(2 * chunk.length)
      this.push(chunk.length ? chunk : null)
    },
    destroy(error, callback) {
      release()
      release = () => {}
      callback(error)
    },
  })
}
