import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorCode } from '../errors.ts'
import { problem, problemType, standingHeaders } from './problem.ts'

/** What Node's parser and timers report, as an error of ours; the rest is not well-formed HTTP. */
const meanings: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Answers bytes that are no request: the connection has no request object yet, so the answer is written by hand, and closed. */
export const answerBrokenRequest = (publicUrl: () => string) => (error: NodeJS.ErrnoException, socket: Socket) => {
  if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
  const fault = new ApiError(meanings[error.code ?? ''] ?? 'malformed_request')
  const requestId = randomUUID()
  const body = JSON.stringify(problem(fault, { publicUrl: publicUrl(), requestId }))
  const headers = {
    ...standingHeaders,
    'x-request-id': requestId,
    'content-type': problemType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join('')}\r\n${body}`)
}

/** Answers an `Expect` that is not known (RFC 9110, section 10.1.1), which Node would do in its own way. */
export const refuseExpectation = (publicUrl: () => string) => (_: IncomingMessage, response: ServerResponse) => {
  const requestId = randomUUID()
  const fault = new ApiError('expectation_failed')
  response.writeHead(fault.status, { ...standingHeaders, 'x-request-id': requestId, 'content-type': problemType })
  response.end(JSON.stringify(problem(fault, { publicUrl: publicUrl(), requestId })))
}
