import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Around, doneFor } from '../../telemetry/current-context.ts'
import { type Attributes, beginRoot, endSpan, learn, spanAt } from '../../telemetry/spans.ts'
import { newTimeline } from '../../telemetry/timeline.ts'
import { placeIn } from '../../telemetry/trace-context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What is done for the request is done for this; undefined where its path could not be read. */
    around: Around | undefined
  }
}

const https = { 'url.scheme': 'https' }

/**
 * Has each request have a time line and go on with the trace that its `traceparent` names, as a span of it where traces are recorded. Before
 * all other hooks: what they ask of the database is part of the request.
 */
export function followRequests(server: FastifyInstance) {
  server.decorateRequest('around', undefined)
  server.addHook('onRequest', (request, _, done) => {
    const place = beginRoot(request.method, 'server', https, placeIn(request.headers.traceparent))
    request.around = { timeline: newTimeline(), place }
    doneFor(request.around, done)
  })
  // The bytes of a body arrive by themselves, not as part of the request.
  server.addHook('preHandler', (request, _, done) => (request.around ? doneFor(request.around, done) : done()))
  server.addHook('onResponse', (request, { statusCode }, done) => {
    const span = spanAt(request.around?.place)
    if (span) {
      const route = request.routeOptions.url
      if (route !== undefined) span.name = `${request.method} ${route}`
      span.attributes = alike(request, route, statusCode)
      learn(span, attributesOf(request))
      endSpan(span, statusCode >= 500 ? (request.refusedWith ?? String(statusCode)) : undefined)
    }
    done()
  })
}

const known = new Map<string, Attributes>()

/** What requests have in common: the same object, which is written out once. There are as many as routes have answers; what has no route, callers make up. */
function alike({ method, raw }: FastifyRequest, route: string | undefined, status: number): Attributes {
  const version = raw.httpVersionMajor === 2 ? '2' : raw.httpVersion
  const key = `${method} ${route} ${status} ${version}`
  const found = known.get(key)
  if (found) return found
  const made = {
    ...https,
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'network.protocol.version': version,
  }
  if (route !== undefined) known.set(key, made)
  return made
}

/** As the log has them: no path and no query, which may hold personal data. */
const attributesOf = (request: FastifyRequest) => ({
  'tillbridge.request_id': request.id,
  'tillbridge.service': request.assignment?.service.name,
  'tillbridge.account': request.username,
  'tillbridge.code': request.refusedWith,
})
