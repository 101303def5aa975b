import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Connection } from './connection.ts'
import { Failure } from './failure.ts'

interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: string | undefined
  /** The largest response body, in bytes. */
  maxBytes: number
  signal: AbortSignal
}

/** A response whose headers have arrived. */
export interface HttpResponse {
  status: number
  headers: IncomingHttpHeaders
  /** Throws `Failure` if the body is interrupted, too slow or too large. */
  body: AsyncIterable<Uint8Array>
  /** Closes the connection, even if the body has not ended. */
  discard(): void
}

/** The connections to one back office. */
export interface Transport {
  exchange(request: HttpRequest): Promise<HttpResponse>
  close(): void
}

/** Milliseconds until an idle socket is closed: earlier than the server would, so that no request is sent on a closing connection. */
const idleSocketMs = 20_000

/** Creates the transport. It doesn't follow redirects and doesn't request compression. */
export function createTransport({ url, ca }: Pick<Connection, 'url' | 'ca'>, concurrency: number): Transport {
  const isSecure = new URL(url).protocol === 'https:'
  const { Agent, request: sendRequest } = isSecure ? https : http
  // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED can't switch verification off.
  const tlsOptions = isSecure ? { rejectUnauthorized: true, ...(ca !== undefined && { ca }) } : {}
  const readAgent = new Agent({ keepAlive: true, maxSockets: concurrency, timeout: idleSocketMs, ...tlsOptions })
  // Each write has its own connection. If the connection can't be established, the write has certainly not been applied.
  const writeAgent = new Agent({ keepAlive: false, ...tlsOptions })

  return {
    exchange: ({ method, url: target, headers, body, maxBytes, signal }) =>
      new Promise((resolve, reject) => {
        let isConnected = false
        const fail = (cause: unknown) => {
          const message = signal.aborted
            ? 'No response arrived before the deadline.'
            : isConnected
              ? 'The connection broke before a response arrived.'
              : 'The connection could not be established.'
          reject(new Failure(isConnected ? 'lost' : 'unreachable', message, { cause }))
        }
        if (signal.aborted) return fail(signal.reason)
        const agent = method === 'GET' ? readAgent : writeAgent
        const request = sendRequest(target, { method, headers, signal, agent, maxHeaderSize: 32 * 1024 }, message =>
          resolve(toHttpResponse(message, maxBytes, signal)),
        )
        request.on('socket', socket => {
          const setConnected = () => {
            isConnected = true
          }
          // `request.reusedSocket` is not set if the agent passes a socket on to a waiting request, so look at the socket itself.
          const isNew = socket.connecting || ('secureConnecting' in socket && socket.secureConnecting === true)
          if (isNew) socket.once(isSecure ? 'secureConnect' : 'connect', setConnected)
          else setConnected()
        })
        request.on('error', fail)
        request.end(body)
      }),
    close() {
      readAgent.destroy()
      writeAgent.destroy()
    },
  }
}

function toHttpResponse(message: IncomingMessage, maxBytes: number, signal: AbortSignal): HttpResponse {
  // Without a listener, a connection that breaks while the body is not being read would end the process.
  message.on('error', () => {})
  async function* readBody(): AsyncGenerator<Uint8Array> {
    let bytes = 0
    try {
      for await (const chunk of message as AsyncIterable<Uint8Array>) {
        bytes += chunk.length
        if (bytes > maxBytes) throw new Failure('unreadable', `The response is larger than ${maxBytes} bytes.`)
        yield chunk
      }
    } catch (cause) {
      if (cause instanceof Failure) throw cause
      const reason = signal.aborted ? 'The response did not end before the deadline.' : 'The response was interrupted.'
      throw new Failure('lost', reason, { cause })
    }
  }
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    body: readBody(),
    discard: () => message.destroy(),
  }
}
