import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'

/** A server that replaces the back office. */
export interface TestServer {
  port: number
  /** The base URL of the API. */
  url: string
  /** The open connections. */
  sockets: ReadonlySet<Socket>
  /** Destroys every connection. */
  destroyConnections(): void
  close(): Promise<void>
}

/** Starts an HTTP server with this listener, or an HTTPS server if `tls` is set. */
export const startHttpServer = (listener: RequestListener, tls?: { key: string; cert: string }) =>
  tls ? listen(createSecureServer(tls, listener), 'https') : listen(createServer(listener))

/** Starts a TCP server, for responses that aren't HTTP or arrive in parts. */
export const startRawServer = (handler: (socket: Socket) => void) => listen(createTcpServer(handler))

async function listen(server: Server, scheme: 'http' | 'https' = 'http'): Promise<TestServer> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const destroyConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}/RetailAPI`,
    sockets,
    destroyConnections,
    async close() {
      const closed = once(server, 'close')
      server.close()
      destroyConnections()
      await closed
    },
  }
}

/** Faults of the simulator that change the format of a response but not its content. */
export const harmlessDeviations = [
  'bom',
  'no-declaration',
  'extra-elements',
  'trailing-blanks',
  'carriage-returns',
  'reordered',
] as const
