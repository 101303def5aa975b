import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

// Bytes of HTTP/1.1 and HTTP/2 requests, valid or not, and a client that never reads a response.

const types = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, window: 8, continuation: 9 }

/** Flags of a frame with headers. A frame with data has only the first. */
export const [endStream, endHeaders] = [1, 4]

/** An HTTP/2 frame (RFC 9113, section 4.1). */
export function buildFrame(type: keyof typeof types, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)) {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = types[type]
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Header fields without compression (RFC 7541, section 6.2.2). */
export const encodeHeaders = (fields: Record<string, string>) =>
  Buffer.concat(
    Object.entries(fields).map(([name, value]) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ]),
    ),
  )

export const toUint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export const http2Preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

const maxWindow = 2 ** 31 - 1

/** Bytes of an HTTP/2 client that requests `path` on this number of streams, with the largest flow-control windows. */
export const buildHttp2Requests = (path: string, streams: number) =>
  Buffer.concat([
    Buffer.from(http2Preface),
    // SETTINGS_INITIAL_WINDOW_SIZE
    buildFrame('settings', 0, 0, Buffer.concat([Buffer.from([0, 4]), toUint32(maxWindow)])),
    buildFrame('window', 0, 0, toUint32(maxWindow - 65_535)),
    ...Array.from({ length: streams }, (_, i) =>
      buildFrame(
        'headers',
        endStream | endHeaders,
        2 * i + 1,
        encodeHeaders({ ':method': 'GET', ':scheme': 'https', ':authority': 'localhost', ':path': path }),
      ),
    ),
  ])

/** Bytes of an HTTP/1.1 client that pipelines this number of requests. */
export const buildHttp1Requests = (path: string, requests: number) =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(requests))

/** Connects, sends bytes and stops reading after the handshake. Resolves after the bytes were sent or the server disconnected. */
export async function connectUnread(baseUrl: string, protocol: 'h2' | 'http/1.1', bytes: Buffer): Promise<TLSSocket> {
  const port = Number(new URL(baseUrl).port)
  const tcp = connect({ port, host: '127.0.0.1' })
  const socket = connectTls({ socket: tcp, ALPNProtocols: [protocol], rejectUnauthorized: false })
  socket.on('error', () => {})
  tcp.on('error', () => {})
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => {})
  tcp.pause()
  socket.write(bytes)
  return socket
}
