import type { FastifyInstance, FastifyRequest } from 'fastify'
import { beginRoot, endSpan, learn, type Span, within } from '../../telemetry/spans.ts'
import { type Place, placeIn } from '../../telemetry/trace-context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where in a trace the request is: its own span, or what the caller says where nothing is traced here. */
    place: Span | Place | undefined
  }
}

const https = { 'url.scheme': 'https' }

/**
 * Has each request go on with the trace that its `traceparent` names, and be a span of it where traces are recorded. Before all other
 * hooks: what they ask of the database is part of the request.
 */
export function traceRequests(server: FastifyInstance) {
  server.decorateRequest('place', undefined)
  server.addHook('onRequest', (request, _, done) => {
    const parent = placeIn(request.headers.traceparent)
    request.place = beginRoot(request.method, 'server', https, parent) ?? parent
    within(request.place, done)
  })
  // The bytes of a body arrive by themselves, not as part of the request.
  server.addHook('preHandler', (request, _, done) => within(request.place, done))
  server.addHook('onResponse', async (request, { statusCode }) => {
    const { place, refusedWith } = request
    if (!place || !('parts' in place)) return
    const route = request.routeOptions.url
    if (route !== undefined) place.name = `${request.method} ${route}`
    if (place.isSampled) learn(place, attributesOf(request, statusCode))
    endSpan(place, statusCode >= 500 ? (refusedWith ?? String(statusCode)) : undefined)
  })
}

/** As the log has them: no path and no query, which may hold personal data. */
const attributesOf = (request: FastifyRequest, status: number) => ({
  'http.request.method': request.method,
  'http.route': request.routeOptions.url,
  'http.response.status_code': status,
  'network.protocol.version': request.raw.httpVersionMajor === 2 ? '2' : request.raw.httpVersion,
  'tillbridge.request_id': request.id,
  'tillbridge.service': request.assignment?.service.name,
  'tillbridge.account': request.username,
  'tillbridge.code': request.refusedWith,
})
