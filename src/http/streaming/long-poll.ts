import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Role } from '../../domain/accounts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { admittedStill, type Gate } from '../admission/admit.ts'

/** What a request that waits for something, perhaps for hours, needs to know of its caller. */
export interface Waiting {
  /** Aborted once nobody waits any more: the caller has gone, or the process is on its way out. */
  over: AbortSignal
  /** The service as it is now; throws where the caller may not read it any more. */
  stillAdmitted(): Promise<Service>
}

/** What ends the waits of a process; a signal of the platform compares each listener that it gets with all that it has. */
const waits = new WeakMap<AbortSignal, Set<() => void>>()

function waitsUntil(ending: AbortSignal) {
  const known = waits.get(ending)
  if (known) return known
  const begun = new Set<() => void>()
  waits.set(ending, begun)
  ending.addEventListener('abort', () => {
    for (const end of begun) end()
  })
  return begun
}

export function waitingOf(gate: Gate, request: FastifyRequest, reply: FastifyReply, role: Role): Waiting {
  const over = new AbortController()
  const ends = waitsUntil(gate.ending)
  const end = () => {
    ends.delete(end)
    over.abort()
  }
  ends.add(end)
  reply.raw.once('close', end)
  if (gate.ending.aborted || reply.raw.destroyed) end()
  return { over: over.signal, stillAdmitted: () => admittedStill(gate, request, role) }
}
