import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { type DeprecatedUse, recordDeprecatedUses } from '../store/accounts/last-used.ts'

/** The deprecation of an operation, in its route definition. Both days begin at 00:00 UTC. */
export interface Deprecation {
  /** The day since which clients should use the replacement: `YYYY-MM-DD`. */
  since: string
  /** The day from which the operation can be missing. Absent if it isn't decided. */
  sunset?: string
  /** The replacement, in Markdown: `` `GET /stores/{id}` ``. */
  replacement: string
}

/** The deprecated operations, by method and path: `GET /stores/:id`. */
export type Deprecations = ReadonlyMap<string, Deprecation>

interface DeprecatableOperation {
  method: string
  path: string
  deprecated?: Deprecation | undefined
}

export const listDeprecations = (operations: readonly DeprecatableOperation[]): Deprecations =>
  new Map(
    operations.flatMap(({ method, path, deprecated }) =>
      deprecated ? [[`${method} ${path}`, deprecated] as const] : [],
    ),
  )

/** Milliseconds between two writes of this process. */
const writeIntervalMs = 2_000

/**
 * Adds `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) to the responses of deprecated operations, and counts their requests by account.
 * One statement writes the counts of two seconds. A process that is killed loses the counts that aren't written yet.
 */
export function announceDeprecations(
  server: FastifyInstance,
  deprecations: Deprecations,
  { db, log }: { db: Db; log: Logger },
) {
  if (!deprecations.size) return
  const getOperation = ({ method, routeOptions: { url } }: FastifyRequest) =>
    `${method === 'HEAD' ? 'GET' : method} ${url}`
  let pending = new Map<string, DeprecatedUse>()
  let isUnavailable = false

  server.addHook('onRequest', (request, reply, done) => {
    const deprecation = deprecations.get(getOperation(request))
    if (deprecation) reply.headers(buildHeaders(deprecation))
    done()
  })
  server.addHook('onResponse', (request, _, done) => {
    const { assignment, username } = request
    const operation = getOperation(request)
    if (assignment && username !== undefined && deprecations.has(operation))
      count({ serviceId: assignment.service.id, username, operation, requests: 1 })
    done()
  })

  function count(use: DeprecatedUse) {
    const key = `${use.serviceId} ${use.username} ${use.operation}`
    pending.set(key, { ...use, requests: use.requests + (pending.get(key)?.requests ?? 0) })
  }

  async function write() {
    const uses = [...pending.values()]
    if (!uses.length) return
    pending = new Map()
    try {
      await recordDeprecatedUses(db, uses)
      isUnavailable = false
    } catch (error) {
      for (const use of uses) count(use)
      if (!isUnavailable) log.warn({ err: error }, 'use of deprecated operations not stored, will retry')
      isUnavailable = true
    }
  }
  let writing = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing.then(write)
  }, writeIntervalMs).unref()
  server.addHook('onClose', async () => {
    clearInterval(timer)
    await writing
    if (!isUnavailable) await write()
  })
}

const buildHeaders = ({ since, sunset }: Deprecation) => ({
  deprecation: `@${Date.parse(since) / 1_000}`,
  ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
  link: '</changelog>; rel="deprecation"',
})

/** Returns the sentences about a deprecation in the description of its operation. */
export const describeDeprecation = ({ since, sunset, replacement }: Deprecation) =>
  `Deprecated since ${since}: use ${replacement}.${sunset === undefined ? '' : ` It can be removed on ${sunset}.`}`
