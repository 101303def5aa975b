import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorCode } from '../errors.ts'
import { instanceOf } from './operation.ts'
import { problemAnswer } from './problem.ts'

type PublicUrl = () => string

/** What Node's parser and timers report, as an error of ours; the rest is not well-formed HTTP. */
const meanings: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Answers bytes that are no request: the connection has no request object yet, so the answer is written by hand, and closed. */
export const answerBrokenRequest = (publicUrl: PublicUrl) => (error: NodeJS.ErrnoException, socket: Socket) => {
  if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
  const fault = new ApiError(meanings[error.code ?? ''] ?? 'malformed_request')
  const { status, headers, body } = problemAnswer(fault, { publicUrl: publicUrl(), requestId: randomUUID() })
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** Answers an `Expect` that is not known (RFC 9110, section 10.1.1), which Node would do in its own way. */
export const refuseExpectation = (publicUrl: PublicUrl) => (request: IncomingMessage, response: ServerResponse) =>
  refuseOutright(new ApiError('expectation_failed'), publicUrl, request, response)

/** Plain HTTP gets the reason, never data and never a redirect: its client would go on sending passwords in the clear. */
export const refusePlainHttp = (publicUrl: PublicUrl) => (request: IncomingMessage, response: ServerResponse) => {
  response.setHeader('connection', 'close')
  refuseOutright(new ApiError('https_required'), publicUrl, request, response)
}

function refuseOutright(fault: ApiError, publicUrl: PublicUrl, request: IncomingMessage, response: ServerResponse) {
  const told = { publicUrl: publicUrl(), requestId: requestIdOf(request), instance: instanceOf(request) }
  const { status, headers, body } = problemAnswer(fault, told)
  response.writeHead(status, headers).end(body)
}

/** The caller's own id where it is fit to be logged and repeated, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>) {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}
