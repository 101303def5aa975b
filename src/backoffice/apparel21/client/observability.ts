import { around, traced, traceparentHere } from '../../../telemetry/current-context.ts'
import { callDurations } from '../../../telemetry/durations.ts'
import { endSpan, faultOf, learn } from '../../../telemetry/spans.ts'
import { addStep } from '../../../telemetry/timeline.ts'
import type { Connection } from './connection.ts'
import type { Incoming } from './exchange.ts'
import { Failure } from './failure.ts'
import { Refusal } from './rejection.ts'
import type { Asking } from './request.ts'

interface Called extends Pick<Asking, 'endpoint'>, Pick<Connection, 'onCall'> {
  method: string
  url: URL
}

/** Has a call measured, and be part of the trace that it is made in: by its endpoint, for its address may name a person. */
export function observedCall(
  { method, url, endpoint, onCall }: Called,
  call: (traceparent: string | undefined) => Promise<Incoming>,
): Promise<Incoming> {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const began = performance.now()
  const { timeline } = around()
  const measured = (status: number | undefined, fault: string | undefined) => {
    const milliseconds = performance.now() - began
    addStep(timeline, `${method} ${endpoint}`, began, fault ?? String(status))
    onCall?.(milliseconds, status === undefined || status >= 500)
    callDurations.observe(`${method} ${url.host} ${status} ${fault}`, milliseconds / 1_000, () => ({
      http_request_method: method,
      server_address: url.hostname,
      server_port: port,
      ...(status !== undefined && { http_response_status_code: String(status) }),
      ...(fault !== undefined && { error_type: fault }),
    }))
  }
  const attributes = {
    'http.request.method': method,
    'server.address': url.hostname,
    'server.port': Number(port),
    'tillbridge.endpoint': endpoint,
  }
  return traced(`${method} ${endpoint}`, 'client', attributes, async span => {
    try {
      const incoming = await call(traceparentHere())
      learn(span, { 'http.response.status_code': incoming.status })
      measured(incoming.status, undefined)
      return incoming
    } catch (error) {
      const status = error instanceof Refusal || error instanceof Failure ? error.status : undefined
      learn(span, { 'http.response.status_code': status })
      const fault = error instanceof Failure ? error.kind : (status?.toString() ?? faultOf(error))
      measured(status, fault)
      endSpan(span, fault)
      throw error
    }
  })
}
