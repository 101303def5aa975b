import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'

/** A server of our own in a back office's place. */
export interface StandIn {
  port: number
  /** The address of the back office. */
  url: string
  /** The connections that are open. */
  sockets: ReadonlySet<Socket>
  /** Ends every connection. */
  cut(): void
  close(): Promise<void>
}

/** Starts a server with this listener, over TLS if it has a certificate. */
export const answering = (listener: RequestListener, tls?: { key: string; cert: string }) =>
  tls ? listening(createSecureServer(tls, listener), 'https') : listening(createServer(listener))

/** One that says bytes of its own choice. */
export const startRawServer = (handler: (socket: Socket) => void) => listening(createTcpServer(handler))

async function listening(server: Server, scheme: 'http' | 'https' = 'http'): Promise<StandIn> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}/RetailAPI`,
    sockets,
    cut,
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}

/** Ways of answering that change no meaning. */
export const oddities = [
  'bom',
  'no-declaration',
  'extra-elements',
  'trailing-blanks',
  'carriage-returns',
  'reordered',
] as const
