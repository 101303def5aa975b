import { getCurrentContext, getTraceparent, runInSpan } from '../../../telemetry/current-context.ts'
import { callDurations } from '../../../telemetry/durations.ts'
import { endSpan, getErrorCode, setAttributes } from '../../../telemetry/spans.ts'
import { addStep } from '../../../telemetry/timeline.ts'
import { type Connection, getBounds, type Limits } from './connection.ts'
import { Failure } from './failure.ts'
import { buildHeaders, buildUrl, type RetailRequest, type WriteRequest } from './request.ts'
import { checkResponse, isHtmlPage } from './responses.ts'
import { RetailApiError } from './retail-api-error.ts'
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

interface ObservedCall extends Pick<RetailRequest, 'endpoint'>, Pick<Connection, 'onCall'> {
  method: string
  url: URL
}

/** Measures and traces a call. Metrics and spans use its endpoint, because its URL can identify a person. */
function observeCall(
  { method, url, endpoint, onCall }: ObservedCall,
  call: (traceparent: string | undefined) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const began = performance.now()
  const { timeline } = getCurrentContext()
  const record = (status: number | undefined, errorType: string | undefined) => {
    const milliseconds = performance.now() - began
    addStep(timeline, `${method} ${endpoint}`, began, errorType ?? String(status))
    onCall?.(milliseconds, status === undefined || status >= 500)
    callDurations.observe(`${method} ${url.host} ${status} ${errorType}`, milliseconds / 1_000, () => ({
      http_request_method: method,
      server_address: url.hostname,
      server_port: port,
      ...(status !== undefined && { http_response_status_code: String(status) }),
      ...(errorType !== undefined && { error_type: errorType }),
    }))
  }
  const attributes = {
    'http.request.method': method,
    'server.address': url.hostname,
    'server.port': Number(port),
    'tillbridge.endpoint': endpoint,
  }
  return runInSpan(`${method} ${endpoint}`, 'client', attributes, async span => {
    try {
      const response = await call(getTraceparent())
      setAttributes(span, { 'http.response.status_code': response.status })
      record(response.status, undefined)
      return response
    } catch (error) {
      const status = error instanceof RetailApiError || error instanceof Failure ? error.status : undefined
      setAttributes(span, { 'http.response.status_code': status })
      const errorType = error instanceof Failure ? error.type : (status?.toString() ?? getErrorCode(error))
      record(status, errorType)
      endSpan(span, errorType)
      throw error
    }
  })
}
