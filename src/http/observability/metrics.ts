import type { IncomingMessage, ServerResponse } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { droppedLogs } from '../../telemetry/durations.ts'
import { createHistogram, createSample, type Sample } from '../../telemetry/samples.ts'

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
const getMethodLabel = ({ method = '' }: { method?: string | undefined }, other: string) =>
  methods.has(method) ? method : other

const resolutionMs = 20

/** Returns the label of a service: the first services by their name, further ones together. Requests without access to a service have none. */
function createServiceLabel(maxServices: number) {
  const labels = new Map<string, { service: string }>()
  return ({ assignment }: FastifyRequest) => {
    if (!assignment || maxServices === 0) return
    const { name } = assignment.service
    const label = labels.get(name)
    if (label) return label
    if (labels.size >= maxServices) return { service: '_OTHER' }
    const added = { service: name }
    labels.set(name, added)
    return added
  }
}

/** Measures the delay of the event loop. Returns a function that returns its percentiles since the last call. */
function measureEventLoop(server: FastifyInstance): () => Sample[] {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  server.addHook('onClose', async () => void delay.disable())
  // The monitor reports how long a timer took, which includes its resolution.
  const toSeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolutionMs) / 1e3
  const createDelaySample = (percentile: string, value: number) =>
    createSample('tillbridge_event_loop_delay_seconds', { percentile }, toSeconds(value))
  return () => {
    const samples = [
      createDelaySample('50', delay.percentile(50)),
      createDelaySample('99', delay.percentile(99)),
      createDelaySample('100', delay.max),
    ]
    delay.reset()
    return samples
  }
}

/**
 * Measures requests by route, method and status, and by service if `maxServices` isn't 0. Labels are the registered routes, because callers
 * can invent any number of paths. Returns a function that returns the current samples.
 */
export function measureRequests(server: FastifyInstance, maxServices: number): () => Sample[] {
  const getServiceLabel = createServiceLabel(maxServices)
  const responseCounts = new Map<
    string,
    { labels: { route: string; method: string; status: string; service?: string }; count: number }
  >()
  const routeDurations = createHistogram('tillbridge_http_request_duration_seconds')
  const conventionDurations = createHistogram('http_server_request_duration_seconds')
  const active = new Map<string, number>()
  const readLoopDelays = measureEventLoop(server)
  server.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const method = getMethodLabel(request, '_OTHER')
    const add = (change: number) => active.set(method, (active.get(method) ?? 0) + change)
    add(1)
    response.once('close', () => add(-1))
  })
  server.addHook('onResponse', (request, reply, done) => {
    const { url } = request.routeOptions
    const route = url ?? 'none'
    const method = getMethodLabel(request, 'other')
    const status = String(reply.statusCode)
    const service = getServiceLabel(request)
    const key = `${method} ${route}`
    const serviceKey = `${key} ${service?.service}`
    const responseCount = responseCounts.get(`${serviceKey} ${status}`) ?? {
      labels: { route, method, status, ...service },
      count: 0,
    }
    responseCounts.set(`${serviceKey} ${status}`, responseCount)
    responseCount.count++
    const seconds = reply.elapsedTime / 1_000
    routeDurations.observe(serviceKey, seconds, () => ({ route, method, ...service }))
    const errorType = reply.statusCode >= 500 ? (request.errorCode ?? status) : undefined
    conventionDurations.observe(`${key} ${status} ${errorType}`, seconds, () => ({
      http_request_method: getMethodLabel(request, '_OTHER'),
      ...(url !== undefined && { http_route: url }),
      http_response_status_code: status,
      url_scheme: 'https',
      ...(errorType !== undefined && { error_type: errorType }),
    }))
    done()
  })

  return () => {
    return [
      ...[...responseCounts.values()].map(({ labels, count }) =>
        createSample('tillbridge_http_requests_total', labels, count),
      ),
      ...routeDurations.samples(),
      ...conventionDurations.samples(),
      ...[...active].map(([method, count]) =>
        createSample('http_server_active_requests', { http_request_method: method, url_scheme: 'https' }, count),
      ),
      createSample('tillbridge_requests_unlogged_total', {}, droppedLogs.requests),
      ...readLoopDelays(),
      createSample('tillbridge_resident_memory_bytes', {}, process.memoryUsage.rss()),
    ]
  }
}
