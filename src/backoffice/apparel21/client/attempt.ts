import { type Connection, getBounds, type Limits } from './connection.ts'
import { Failure } from './failure.ts'
import { observeCall } from './observability.ts'
import { buildHeaders, buildUrl, type RetailRequest, type WriteRequest } from './request.ts'
import { checkResponse, isHtmlPage } from './responses.ts'
import type { HttpResponse, Transport } from './transport.ts'

/**
 * Sends a request once. Returns a successful response as soon as its headers have arrived.
 * Throws `RetailApiError` if the Retail API rejects the request, `Failure` if there is no valid response.
 */
export type Attempt = (request: RetailRequest | WriteRequest, signal: AbortSignal) => Promise<HttpResponse>

export const createAttempt =
  (transport: Transport, connection: Connection, limits: Limits): Attempt =>
  (request, signal) => {
    const { method, body } = 'method' in request ? request : { method: 'GET' as const }
    const { target: url } = buildUrl(connection, request)
    const maxBytes = getBounds(limits, request.size).bytes
    return observeCall({ method, url, endpoint: request.endpoint, onCall: connection.onCall }, async traceparent => {
      const headers = buildHeaders(connection, { traceparent, ...request })
      const response = await transport.exchange({ method, url, headers, body, maxBytes, signal })
      const isWrite = method !== 'GET'
      await checkResponse(response, isWrite)
      if (isWrite && (await isHtmlPage(response)))
        throw new Failure('crashed', 'The response to a write is an HTML page.', { status: response.status })
      return response
    })
  }
