import { randomUUIDv7 } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { getCurrentResponse } from '../../database/pg/internals.ts'
import { ApiError, type ErrorCode } from '../../errors/api-error.ts'
import type { LogRejection } from '../observability/access-log.ts'
import { createProblemResponse } from '../problem.ts'
import { getRequestPath } from '../routing/operation.ts'

type PublicUrl = () => string

/** The error code for each error of Node's parser and timers. Any other error is `malformed_request`. */
const codesByNodeError: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Connections that sent malformed bytes. Everything else that they send is ignored. */
const malformedConnections = new WeakSet<Socket>()

/**
 * Rejects bytes that are not a valid HTTP request, after the responses to earlier requests of the connection, which are still executed.
 * There is no request object, so the response is written by hand. It is the last one of the connection.
 */
export const rejectMalformedRequest =
  (publicUrl: PublicUrl, logRejection: LogRejection) => (error: NodeJS.ErrnoException, socket: Socket) => {
    // A client that has not finished the TLS handshake can't receive a response.
    if (error.code === 'ECONNRESET' || error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return socket.destroy()
    if (malformedConnections.has(socket)) return
    malformedConnections.add(socket)
    callAfterResponses(socket, () => {
      if (!socket.writable) return socket.destroy()
      const apiError = new ApiError(codesByNodeError[error.code ?? ''] ?? 'malformed_request')
      const requestId = randomUUIDv7()
      const { status, headers, body } = createProblemResponse(apiError, { publicUrl: publicUrl(), requestId })
      logRejection({
        requestId,
        'client.address': socket.remoteAddress,
        'http.response.status_code': status,
        'error.type': apiError.code,
      })
      const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
    })
  }

/** Waits for the responses to all complete requests. An incomplete request gets no response other than the rejection. */
function callAfterResponses(socket: Socket, callback: () => void) {
  const next = getCurrentResponse(socket)
  if (next?.req.complete) next.once('close', () => callAfterResponses(socket, callback))
  else callback()
}

/** Rejects an unknown `Expect` header with a problem (RFC 9110, section 10.1.1). Node would send a response without a body. */
export const rejectExpectation =
  (publicUrl: PublicUrl, logRejection: LogRejection) => (request: IncomingMessage, response: ServerResponse) =>
    sendRejection(new ApiError('expectation_failed'), { publicUrl, logRejection }, request, response)

/** Rejects plain HTTP. A redirect would let a client go on sending passwords in the clear. */
export const rejectPlainHttp =
  (publicUrl: PublicUrl, logRejection: LogRejection) => (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close')
    sendRejection(new ApiError('https_required'), { publicUrl, logRejection }, request, response)
  }

interface RejectionOptions {
  publicUrl: PublicUrl
  logRejection: LogRejection
}

function sendRejection(
  error: ApiError,
  { publicUrl, logRejection }: RejectionOptions,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const requestId = getRequestId(request)
  const { status, headers, body } = createProblemResponse(error, {
    publicUrl: publicUrl(),
    requestId,
    instance: getRequestPath(request),
  })
  logRejection({
    requestId,
    'client.address': request.socket.remoteAddress,
    'http.request.method': request.method,
    'http.response.status_code': status,
    'error.type': error.code,
  })
  response.writeHead(status, headers).end(body)
}

/** Returns the caller's request ID if it is safe to log and repeat, otherwise a new one. */
export function getRequestId({ headers }: Pick<IncomingMessage, 'headers'>) {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUIDv7()
}
