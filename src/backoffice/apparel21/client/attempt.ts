import { boundsOf, type Connection, type Limits } from './connection.ts'
import type { Incoming, Wire } from './exchange.ts'
import { Failure } from './failure.ts'
import { observedCall } from './observability.ts'
import { type Asking, addressOf, headersOf, type Writing } from './request.ts'
import { isPage, judge } from './responses.ts'

/** Asks once. Returns a good answer, as far as its head; throws a `Failure` or a `Refusal` where there is none. */
export type Attempt = (asked: Asking | Writing, signal: AbortSignal) => Promise<Incoming>

export const attemptOver =
  (wire: Wire, connection: Connection, limits: Limits): Attempt =>
  (asked, signal) => {
    const { method, body } = 'method' in asked ? asked : { method: 'GET' as const }
    const { target: url } = addressOf(connection, asked)
    const mostBytes = boundsOf(limits, asked.size).bytes
    return observedCall({ method, url, endpoint: asked.endpoint, onCall: connection.onCall }, async traceparent => {
      const headers = headersOf(connection, { traceparent, ...asked })
      const incoming = await wire.exchange({ method, url, headers, body, mostBytes, signal })
      const isWrite = method !== 'GET'
      await judge(incoming, isWrite)
      if (isWrite && (await isPage(incoming)))
        throw new Failure('crashed', 'A page came instead of an answer.', { status: incoming.status })
      return incoming
    })
  }
