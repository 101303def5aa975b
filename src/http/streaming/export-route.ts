import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { recheckIntervalMs } from '../../auth/sign-in.ts'
import { type RunLimited, semaphore } from '../../concurrency/semaphore.ts'
import { perObject } from '../../concurrency/ttl-cache.ts'
import type { Database } from '../../database/db.ts'
import type { Role } from '../../domain/accounts.ts'
import { ApiError } from '../../errors/api-error.ts'
import { checkStillAdmitted } from '../admission/admit.ts'
import type { AppContext } from '../app-context.ts'
import { concurrencyLimit } from '../limits/concurrency-limit.ts'
import { logServerError } from '../problem.ts'
import { type BulkExport, sendBulkExport } from './bulk-export.ts'

/** Connections to a database that all bulk exports of a process share. The other connections serve pages. */
const maxConnections = 2

/** Runs bulk exports. Their chunks share a few connections and yield to other reads. The concurrent exports of an account are limited. */
export function createBulkExporter(app: AppContext) {
  const limitAccount = concurrencyLimit('too_many_exports')
  const getLimit = perObject(createLimit)
  return {
    /** Returns the limit that the exports of a database share. */
    getConnectionLimit: ({ db }: Pick<AppContext, 'db'>): RunLimited => getLimit(db),

    /** Sends the export that `begin` returns. Throws `too_many_exports` if the account runs as many as it can. */
    send: (
      request: FastifyRequest,
      reply: FastifyReply,
      role: Role,
      begin: () => Promise<BulkExport>,
    ): Promise<FastifyReply> =>
      limitAccount(request, async () => {
        requireChunkedEncoding(request)
        const { headers, chunks } = await begin()
        const recheckAccess = () => checkStillAdmitted(app, request, role)
        await sendBulkExport(request, reply, { headers, chunks: streamWhileAdmitted(request, chunks, recheckAccess) })
        return reply
      }),
  }
}

/** Milliseconds for which a chunk lets other reads go first. */
const maxYieldMs = 20
/** Milliseconds between two checks for other reads. */
const checkIntervalMs = 1

/**
 * Creates the limit of a database. A chunk waits for one of the connections, and then up to `maxYieldMs` while other reads use connections:
 * people wait for a page, but an export takes minutes anyway.
 */
function createLimit({ pool }: Database): RunLimited {
  const connections = semaphore({ permits: maxConnections })
  let running = 0
  return work =>
    connections.run(async () => {
      const latest = performance.now() + maxYieldMs
      while (pool.totalCount - pool.idleCount > running && performance.now() < latest) await delay(checkIntervalMs)
      running++
      return work().finally(() => running--)
    })
}

/** Rejects HTTP/1.0, in which the end of the connection ends the body: an interrupted export would look complete. */
function requireChunkedEncoding({ raw }: FastifyRequest) {
  if (raw.httpVersion !== '1.0') return
  const detail = 'Bulk exports need HTTP/1.1 or HTTP/2. With nginx, set `proxy_http_version 1.1`.'
  throw new ApiError('not_acceptable', detail)
}

/**
 * Yields the chunks for as long as the caller is admitted. Errors are logged in this generator, because it sees only errors of Tillbridge:
 * an error of the pipeline can also mean that the client disconnected.
 */
async function* streamWhileAdmitted(
  request: FastifyRequest,
  chunks: AsyncIterable<string>,
  recheckAccess: () => Promise<unknown>,
) {
  let checkedAt = performance.now()
  try {
    for await (const chunk of chunks) {
      if (performance.now() - checkedAt > recheckIntervalMs) {
        await recheckAccess()
        checkedAt = performance.now()
      }
      yield chunk
    }
  } catch (error) {
    logServerError(request, error)
    throw error
  }
}
