import type { FastifyReply, FastifyRequest } from 'fastify'
import { askAgainMs } from '../../auth/sign-in.ts'
import { givingWay, type Turn, turnsOf } from '../../concurrency/fair-queue.ts'
import type { Database } from '../../database/db.ts'
import { ApiError } from '../../errors/api-error.ts'
import type { Role } from '../../store/accounts/accounts.ts'
import { admittedStill, type Gate } from '../admission/admit.ts'
import { openingsOf } from '../limits/concurrency-limit.ts'
import { logFault } from '../problem.ts'
import { sendWhole, type Whole } from './bulk-export.ts'

/** Connections to a database that all whole lists of a process have between them: whoever asks for pages has the others. */
const connections = 2

/** What whole lists are told with: portions in turn, behind other reads, so many lists at a time to an account (contract 12). */
export function wholeLists(gate: Gate) {
  const open = openingsOf('too_many_exports')
  const turns = new WeakMap<Database, Turn>()
  return {
    /** That of a database. */
    turnOf({ db }: Pick<Gate, 'db'>): Turn {
      // Connections that are lent.
      const busy = () => db.pool.totalCount - db.pool.idleCount
      const turn = turns.get(db) ?? givingWay(turnsOf(connections), busy)
      turns.set(db, turn)
      return turn
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
      if (performance.now() - trusted > askAgainMs) {
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
