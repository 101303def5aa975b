import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { recheckIntervalMs } from '../../auth/sign-in.ts'
import { type RunLimited, semaphore } from '../../concurrency/semaphore.ts'
import type { Database } from '../../database/db.ts'
import type { Role } from '../../domain/accounts.ts'
import { ApiError } from '../../errors/api-error.ts'
import { admittedStill, type Gate } from '../admission/admit.ts'
import { openingsOf } from '../limits/concurrency-limit.ts'
import { logFault } from '../problem.ts'
import { sendWhole, type Whole } from './bulk-export.ts'

/** Connections to a database that all bulk exports of a process share. The other connections serve pages. */
const connections = 2

/** Runs bulk exports: their chunks share a few connections and yield to other reads, and the exports of an account are limited. */
export function wholeLists(gate: Gate) {
  const open = openingsOf('too_many_exports')
  const limits = new WeakMap<Database, RunLimited>()
  return {
    /** Returns the limit that the exports of a database share. */
    limitFor({ db }: Pick<Gate, 'db'>): RunLimited {
      const limit = limits.get(db) ?? createLimit(db)
      limits.set(db, limit)
      return limit
    },
    tell: (
      request: FastifyRequest,
      reply: FastifyReply,
      role: Role = 'visitor',
      whole: () => Promise<Whole>,
    ): Promise<FastifyReply> =>
      open(request, async () => {
        requireChunks(request)
        const { headers, portions } = await whole()
        const stillAdmitted = () => admittedStill(gate, request, role)
        await sendWhole(request, reply, { headers, portions: whileAdmitted(request, portions, stillAdmitted) })
        return reply
      }),
  }
}

/** Milliseconds that a chunk yields to other reads at most, and between two checks. */
const yieldMs = 20
const checkIntervalMs = 1

/** A chunk waits for a connection and then, briefly, while other reads use connections: an export takes minutes, but a page has a reader. */
function createLimit({ pool }: Database): RunLimited {
  const slots = semaphore({ permits: connections })
  let running = 0
  return work =>
    slots.run(async () => {
      const latest = performance.now() + yieldMs
      while (pool.totalCount - pool.idleCount > running && performance.now() < latest) await delay(checkIntervalMs)
      running++
      return work().finally(() => running--)
    })
}

/** Over HTTP/1.0 an answer whose length is not known ends with the connection: a list that was cut would look whole. */
function requireChunks({ raw }: FastifyRequest) {
  if (raw.httpVersion !== '1.0') return
  const detail = 'Bulk exports need HTTP/1.1 or HTTP/2. With nginx, set `proxy_http_version 1.1`.'
  throw new ApiError('not_acceptable', detail)
}

/** The portions, as long as the caller is admitted. Faults are told here, where they arise: that a stream ends early is the client's doing. */
async function* whileAdmitted(
  request: FastifyRequest,
  portions: AsyncIterable<string>,
  stillAdmitted: () => Promise<unknown>,
) {
  let trusted = performance.now()
  try {
    for await (const portion of portions) {
      if (performance.now() - trusted > recheckIntervalMs) {
        await stillAdmitted()
        trusted = performance.now()
      }
      yield portion
    }
  } catch (fault) {
    logFault(request, fault)
    throw fault
  }
}
