import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { ErrorCode } from '../../errors/api-error.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error response, if there was one. */
    errorCode: ErrorCode | undefined
    /** The fields of the error response, for the request log. */
    errorFields: readonly string[] | undefined
  }
}

/**
 * Returns the log fields of a request. Fields that OpenTelemetry's semantic conventions define have their names. Path, query and headers
 * are left out, because they can have personal data.
 */
export const getLogFields = (request: FastifyRequest) => ({
  'client.address': request.ip,
  'http.request.method': request.method,
  'http.route': request.routeOptions.url,
  service: request.assignment?.service.name,
  account: request.username,
  apiKey: request.assignment?.apiKey?.name,
  trace_id: request.executionContext?.spanContext?.traceId,
  span_id: request.executionContext?.spanContext?.spanId,
})

/** Errors that can mean a stolen or guessed password, or one that was sent in the clear. */
const suspiciousCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'service_not_assigned',
  'https_required',
  'invalid_credentials',
  'too_many_failures',
])
/** Log entries per minute for each suspicious code. An attacker must not fill the log and hide in it. */
const maxSuspiciousPerMinute = 20

/** Returns a function that chooses the log level of a request. Suspicious requests are logged at `info` (docs/operate/logs.md). */
function createLevelChooser(level: 'info' | 'debug') {
  const windows = new Map<ErrorCode, { since: number; entries: number }>()
  return (code: ErrorCode | undefined): 'info' | 'debug' => {
    if (level === 'info' || code === undefined || !suspiciousCodes.has(code)) return level
    const now = performance.now()
    const current = windows.get(code)
    const window = current && now - current.since < 60_000 ? current : { since: now, entries: 0 }
    windows.set(code, window)
    return ++window.entries <= maxSuspiciousPerMinute ? 'info' : level
  }
}

/** Logs each request after its response (docs/operate/logs.md). */
export function writeAccessLog(server: FastifyInstance, log: Logger, level: 'info' | 'debug') {
  const chooseLevel = createLevelChooser(level)
  server.decorateRequest('errorCode', undefined)
  server.decorateRequest('errorFields', undefined)
  server.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    const { errorCode: code } = request
    const chosen = chooseLevel(code)
    if (log.isLevelEnabled(chosen))
      request.log[chosen](
        {
          ...getLogFields(request),
          'http.response.status_code': status,
          'error.type': code,
          ms: Math.round(elapsedTime * 100) / 100,
        },
        'request',
      )
    done()
  })
}

/** Returns a function that logs rejections that happen before Fastify has a request. */
export function logRejections(log: Logger, level: 'info' | 'debug'): LogRejection {
  const chooseLevel = createLevelChooser(level)
  return rejection => log[chooseLevel(rejection['error.type'])](rejection, 'request')
}

/** Logs a malformed request, or one that was rejected before it was read. */
export type LogRejection = (rejection: {
  requestId: string
  /** The address of the connection, because the headers of a rejected request are not trusted. */
  'client.address': string | undefined
  'http.request.method'?: string | undefined
  'http.response.status_code': number
  'error.type': ErrorCode
}) => void
