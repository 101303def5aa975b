import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createSource, createTurns, type Source, type Turns } from '../../concurrency/turns.ts'

/**
 * Shares the event loop between connections. A client can send thousands of requests in one packet, hundreds of clients can send large
 * bodies, and each new connection needs a handshake. All three start in turns, the time slices of `concurrency/turns.ts`. So do HTTP/2
 * sessions: a new one handles at once what its client has sent until then.
 */

/** Bytes that the HTTP/1.1 parser receives at a time. The shortest pipelined requests fit about 70 times. */
const pieceBytes = 2_048

/**
 * HTTP/2: the maximum of concurrent requests per connection, and of requests that a client can cancel at once. A client with a thousand
 * requests would delay all others, and ending a request costs the server more than the client.
 */
export const maxStreams = 100

type Exchange = [request: IncomingMessage, response: ServerResponse]

/** Delays the listeners for requests and connections that the server has now. Listeners that are added later run at once. */
export function shareTurns(server: Server) {
  const turns = createTurns()
  const sources = new WeakMap<object, Source>()
  const findSource = (connection: object) => {
    const source = sources.get(connection) ?? createSource()
    sources.set(connection, source)
    return source
  }
  const startExchange = takeListeners(server, 'request')
  server.on('request', (...exchange: Exchange) => {
    const [request] = exchange
    turns.run(findSource(getConnection(request)), () => {
      if (!isClosed(request)) startExchange(...exchange)
    })
  })
  /** Calls `start` in a turn. `start` adds listeners for errors, so until then, errors of the connection are ignored. */
  const runWithConnection = (socket: Socket, start: (socket: Socket) => void) => {
    const ignore = () => {}
    socket.on('error', ignore)
    turns.run(createSource(), () => {
      socket.off('error', ignore)
      if (!socket.destroyed) start(socket)
    })
  }
  const startHandshake = takeListeners(server, 'connection')
  server.on('connection', (socket: Socket) => {
    turns.shortenNext()
    runWithConnection(socket, startHandshake)
  })
  const startSession = takeListeners(server, 'secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') return runWithConnection(socket, startSession)
    startSession(socket)
    readInPieces(socket, turns, findSource(socket))
  })
}

/** Removes the listeners for an event. Returns a function that calls them. */
function takeListeners(server: Server, event: 'request' | 'connection' | 'secureConnection') {
  const listeners = server.listeners(event) as ((...args: unknown[]) => void)[]
  server.removeAllListeners(event)
  return (...args: unknown[]) => {
    for (const listener of listeners) listener.apply(server, args)
  }
}

/** Passes what a client sends to the parser in pieces, each in a turn. While pieces wait, nothing is read from the client. */
function readInPieces(socket: TLSSocket, turns: Turns, source: Source) {
  const [push, read] = [socket.push.bind(socket), socket._read.bind(socket)]
  let pieces: (Buffer | null)[] = []
  let isWaiting = false

  const passNext = () => {
    if (isWaiting || !pieces.length || socket.isPaused()) return
    isWaiting = true
    turns.run(source, () => {
      isWaiting = false
      if (socket.destroyed) pieces = []
      const piece = pieces.shift()
      if (piece === undefined) return
      push(piece)
      if (piece === null) socket.read(0)
      passNext()
    })
  }

  socket._read = size => {
    if (!pieces.length) read(size)
  }
  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) pieces.push(null)
    else
      for (let start = 0; start < chunk.length; start += pieceBytes)
        pieces.push(chunk.subarray(start, start + pieceBytes))
    passNext()
    return pieces.length === 0
  }
  socket.on('resume', passNext)
  // Without a listener, Node's parser would read from the connection directly.
  socket.on('data', () => {})
}

/** A request of the server for HTTP/1.1 or of the one for HTTP/2. */
type AnyRequest = IncomingMessage & { stream?: { destroyed: boolean; session?: object } }

/** True if the client has reset the stream, or the connection is closed. */
const isClosed = ({ stream, socket }: AnyRequest) => (stream ?? socket).destroyed

/** Returns the session of an HTTP/2 request, and the socket of others. */
const getConnection = ({ stream, socket }: AnyRequest): object => stream?.session ?? socket
