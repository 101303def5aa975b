import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Connection } from './connection.ts'
import { Failure } from './failure.ts'

/** One request, as it goes out. */
interface Outgoing {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: string | undefined
  mostBytes: number
  signal: AbortSignal
}

/** What came back, as far as the head. */
export interface Incoming {
  status: number
  headers: IncomingHttpHeaders
  /** Throws a `Failure` where it breaks off, takes too long or is too large. */
  body: AsyncIterable<Uint8Array>
  /** Ends it, wherever it is. */
  discard(): void
}

/** The sockets to one back office. */
export interface Wire {
  exchange(outgoing: Outgoing): Promise<Incoming>
  close(): void
}

/** Milliseconds after which a free socket is closed: before the other side would, so that no request meets one that has just gone. */
const freeSocketMs = 20_000

/** Redirects are answers like others, and nothing is asked to be compressed. */
export function openWire({ url, ca }: Pick<Connection, 'url' | 'ca'>, concurrency: number): Wire {
  const isSecure = new URL(url).protocol === 'https:'
  const { Agent, request } = isSecure ? https : http
  // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const trust = isSecure ? { rejectUnauthorized: true, ...(ca !== undefined && { ca }) } : {}
  const pool = new Agent({ keepAlive: true, maxSockets: concurrency, timeout: freeSocketMs, ...trust })
  // A write gets a connection of its own: one that broke before it was made has certainly done nothing.
  const fresh = new Agent({ keepAlive: false, ...trust })

  return {
    exchange: ({ method, url: target, headers, body, mostBytes, signal }) =>
      new Promise((resolve, reject) => {
        let isConnected = false
        const failed = (cause: unknown) => {
          const message = signal.aborted ? 'There was no answer in time.' : 'The connection broke, or was not made.'
          reject(new Failure(isConnected ? 'lost' : 'unreachable', message, { cause }))
        }
        if (signal.aborted) return failed(signal.reason)
        const asked = request(
          target,
          { method, headers, signal, agent: method === 'GET' ? pool : fresh, maxHeaderSize: 32 * 1024 },
          answer => resolve(incoming(answer, mostBytes, signal)),
        )
        asked.on('socket', socket => {
          const connected = () => {
            isConnected = true
          }
          // A connection that goes over to who has waited for it is not told to be a used one.
          const isNew = socket.connecting || ('secureConnecting' in socket && socket.secureConnecting === true)
          if (isNew) socket.once(isSecure ? 'secureConnect' : 'connect', connected)
          else connected()
        })
        asked.on('error', failed)
        asked.end(body)
      }),
    close() {
      pool.destroy()
      fresh.destroy()
    },
  }
}

function incoming(answer: IncomingMessage, mostBytes: number, signal: AbortSignal): Incoming {
  // One that breaks while nobody reads it must not end the process.
  answer.on('error', () => {})
  async function* body(): AsyncGenerator<Uint8Array> {
    let bytes = 0
    try {
      for await (const chunk of answer as AsyncIterable<Uint8Array>) {
        bytes += chunk.length
        if (bytes > mostBytes) throw new Failure('unreadable', 'The answer is too large.')
        yield chunk
      }
    } catch (cause) {
      if (cause instanceof Failure) throw cause
      const message = signal.aborted ? 'The answer did not end in time.' : 'The answer broke off.'
      throw new Failure('lost', message, { cause })
    }
  }
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: body(), discard: () => answer.destroy() }
}
