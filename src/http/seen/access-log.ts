import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { ErrorCode } from '../../errors.ts'
import { traceparentOf } from '../../telemetry/trace-context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request was refused with, if it was. */
    refusedWith: ErrorCode | undefined
  }
}

/** What a log line says of a request, beside its id, which all of its lines have: nothing of its path, query or headers, which may hold personal data. */
export const about = (request: FastifyRequest) => ({
  method: request.method,
  route: request.routeOptions.url,
  service: request.assignment?.service.name,
  account: request.username,
  traceparent: request.around?.place && traceparentOf(request.around.place),
})

/** Logs each request when it is over (docs/logs.md). */
export function writeAccessLog(server: FastifyInstance, log: Logger, level: 'info' | 'debug') {
  server.decorateRequest('refusedWith', undefined)
  if (!log.isLevelEnabled(level)) return
  server.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    const ms = Math.round(elapsedTime * 100) / 100
    request.log[level]({ ...about(request), status, code: request.refusedWith, ms }, 'request')
    done()
  })
}

/** What came of bytes that are no request, or of a request that is refused before anything of it is looked at. */
export type NoteRefusal = (refused: {
  requestId: string
  method?: string | undefined
  status: number
  code: ErrorCode
}) => void
