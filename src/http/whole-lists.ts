import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Role } from '../accounts.ts'
import { admittedStill, type Gate } from './gate.ts'
import { openingsOf } from './media/openings.ts'
import { turnsOf } from './media/turns.ts'
import { sendWhole, type Whole } from './media/whole.ts'
import { logFault } from './problem.ts'

/** Connections that all whole lists of a process have between them: whoever asks for pages has the others. */
const connections = 2

/** What whole lists are told with: portions in turn, so many at a time to an account (contract 12). */
export function wholeLists(gate: Gate) {
  const open = openingsOf('too_many_whole_lists')
  return {
    turn: turnsOf(connections),
    tell: (
      request: FastifyRequest,
      reply: FastifyReply,
      role: Role = 'visitor',
      whole: () => Promise<Whole>,
    ): Promise<FastifyReply> =>
      open(request, async () => {
        await sendWhole(request, reply, await whole(), {
          stillAdmitted: () => admittedStill(gate, request, role),
          onFault: fault => logFault(request, fault),
        })
        return reply
      }),
  }
}
