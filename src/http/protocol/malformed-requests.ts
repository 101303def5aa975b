import { randomUUIDv7 } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorCode } from '../../errors/api-error.ts'
import type { NoteRefusal } from '../observability/access-log.ts'
import { problemAnswer } from '../problem.ts'
import { instanceOf } from '../routing/operation.ts'

type PublicUrl = () => string

/** What Node's parser and timers report, as an error of ours; the rest is not well-formed HTTP. */
const meanings: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** A connection as Node's HTTP/1.1 keeps it. Nothing public says which answer is the next to go out on it. */
type Connection = Socket & { _httpMessage?: ServerResponse | null }

/** Connections that have brought bytes that are no request; whatever else they bring is read past. */
const broken = new WeakSet<Connection>()

/**
 * Answers bytes that are no request, behind the answers to the requests before them, which are carried out all the same. There is
 * no request object, so the answer is written by hand; it is the connection's last.
 */
export const answerBrokenRequest =
  (publicUrl: PublicUrl, note: NoteRefusal) => (error: NodeJS.ErrnoException, socket: Connection) => {
    // Who has not finished the handshake cannot be told anything: what is written waits for its end.
    if (error.code === 'ECONNRESET' || error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return socket.destroy()
    if (broken.has(socket)) return
    broken.add(socket)
    afterAnswers(socket, () => {
      if (!socket.writable) return socket.destroy()
      const fault = new ApiError(meanings[error.code ?? ''] ?? 'malformed_request')
      const requestId = randomUUIDv7()
      const { status, headers, body } = problemAnswer(fault, { publicUrl: publicUrl(), requestId })
      note({ requestId, status, code: fault.code })
      const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
    })
  }

/** Waits for the answers to all requests that are whole: one that is not gets no other answer than the refusal. */
function afterAnswers(socket: Connection, then: () => void) {
  const next = socket._httpMessage
  if (next?.req.complete) next.once('close', () => afterAnswers(socket, then))
  else then()
}

/** Answers an `Expect` that is not known (RFC 9110, section 10.1.1), which Node would do in its own way. */
export const refuseExpectation =
  (publicUrl: PublicUrl, note: NoteRefusal) => (request: IncomingMessage, response: ServerResponse) =>
    refuseOutright(new ApiError('expectation_failed'), { publicUrl, note }, request, response)

/** Plain HTTP gets the reason, never data and never a redirect: its client would go on sending passwords in the clear. */
export const refusePlainHttp =
  (publicUrl: PublicUrl, note: NoteRefusal) => (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close')
    refuseOutright(new ApiError('https_required'), { publicUrl, note }, request, response)
  }

interface Refusing {
  publicUrl: PublicUrl
  note: NoteRefusal
}

function refuseOutright(
  fault: ApiError,
  { publicUrl, note }: Refusing,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const told = { publicUrl: publicUrl(), requestId: requestIdOf(request), instance: instanceOf(request) }
  const { status, headers, body } = problemAnswer(fault, told)
  note({ requestId: told.requestId, method: request.method, status, code: fault.code })
  response.writeHead(status, headers).end(body)
}

/** The caller's own id where it is fit to be logged and repeated, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>) {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUIDv7()
}
