import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { ErrorCode } from '../../errors/api-error.ts'
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

/** What somebody does who has a key that is not theirs, tries for one, or sends one in the clear. */
const suspicious: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'service_not_assigned',
  'https_required',
  'invalid_credentials',
  'too_many_failures',
])
/** Lines of each such code in a minute, whatever comes: a log that is filled by strangers hides them. */
const mostSuspicious = 20

/** At which level a request is logged; what is suspicious is at `info`, though no other one is (docs/operate/logs.md). */
function levelsOf(level: 'info' | 'debug') {
  const told = new Map<ErrorCode, { since: number; lines: number }>()
  return (code: ErrorCode | undefined): 'info' | 'debug' => {
    if (level === 'info' || code === undefined || !suspicious.has(code)) return level
    const now = performance.now()
    const known = told.get(code)
    const counted = known && now - known.since < 60_000 ? known : { since: now, lines: 0 }
    told.set(code, counted)
    return ++counted.lines <= mostSuspicious ? 'info' : level
  }
}

/** Logs each request when it is over (docs/operate/logs.md). */
export function writeAccessLog(server: FastifyInstance, log: Logger, level: 'info' | 'debug') {
  const levelOf = levelsOf(level)
  server.decorateRequest('refusedWith', undefined)
  server.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    const { refusedWith: code } = request
    const at = levelOf(code)
    if (log.isLevelEnabled(at))
      request.log[at]({ ...about(request), status, code, ms: Math.round(elapsedTime * 100) / 100 }, 'request')
    done()
  })
}

/** Logs what is refused before there is a request. */
export function noteRefusals(log: Logger, level: 'info' | 'debug'): NoteRefusal {
  const levelOf = levelsOf(level)
  return refused => log[levelOf(refused.code)](refused, 'request')
}

/** What came of bytes that are no request, or of a request that is refused before anything of it is looked at. */
export type NoteRefusal = (refused: {
  requestId: string
  method?: string | undefined
  status: number
  code: ErrorCode
}) => void
