import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Context, runWithContext } from '../../telemetry/current-context.ts'
import { type Attributes, endSpan, findSpan, setAttributes, startRootSpan } from '../../telemetry/spans.ts'
import { createTimeline } from '../../telemetry/timeline.ts'
import { parseTraceparent } from '../../telemetry/trace-context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The execution context of the request: its timeline and its span. Undefined if its path could not be read. */
    executionContext: Context | undefined
  }
}

const https = { 'url.scheme': 'https' }

/**
 * Gives each request a timeline and, if traces are recorded, a server span below the one that its `traceparent` names. Register it before
 * all other hooks, so that their database queries are part of the request.
 */
export function traceRequests(server: FastifyInstance) {
  server.decorateRequest('executionContext', undefined)
  server.addHook('onRequest', (request, _, done) => {
    const spanContext = startRootSpan(request.method, 'server', https, parseTraceparent(request.headers.traceparent))
    request.executionContext = { requestId: request.id, timeline: createTimeline(), spanContext }
    runWithContext(request.executionContext, done)
  })
  // The bytes of a body arrive outside the execution context of the request, so it is entered again.
  server.addHook('preHandler', (request, _, done) =>
    request.executionContext ? runWithContext(request.executionContext, done) : done(),
  )
  server.addHook('onResponse', (request, { statusCode }, done) => {
    const span = findSpan(request.executionContext?.spanContext)
    if (span) {
      const route = request.routeOptions.url
      if (route !== undefined) span.name = `${request.method} ${route}`
      span.attributes = getSharedAttributes(request, route, statusCode)
      setAttributes(span, getOwnAttributes(request))
      endSpan(span, statusCode >= 500 ? (request.errorCode ?? String(statusCode)) : undefined)
    }
    done()
  })
}

const sharedAttributes = new Map<string, Attributes>()

/**
 * Returns the attributes that requests of a route have in common. Equal attributes are the same object, which is serialized once. Requests
 * without a route are not stored, because callers can invent any number of paths.
 */
function getSharedAttributes({ method, raw }: FastifyRequest, route: string | undefined, status: number): Attributes {
  const version = raw.httpVersionMajor === 2 ? '2' : raw.httpVersion
  const key = `${method} ${route} ${status} ${version}`
  const stored = sharedAttributes.get(key)
  if (stored) return stored
  const attributes = {
    ...https,
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'network.protocol.version': version,
  }
  if (route !== undefined) sharedAttributes.set(key, attributes)
  return attributes
}

/** Returns the attributes of one request. Path and query are left out, because they can have personal data. */
const getOwnAttributes = (request: FastifyRequest) => ({
  'client.address': request.ip,
  'tillbridge.request_id': request.id,
  'tillbridge.service': request.assignment?.service.name,
  'tillbridge.account': request.username,
  'tillbridge.api_key': request.assignment?.apiKey?.name,
  'tillbridge.code': request.errorCode,
})
