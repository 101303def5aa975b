import type { FastifyReply, FastifyRequest } from 'fastify'
import { perObject } from '../../concurrency/ttl-cache.ts'
import type { Role } from '../../domain/accounts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { checkStillAdmitted } from '../admission/admit.ts'
import type { AppContext } from '../app-context.ts'

/** The lifetime of a request that waits for changes, perhaps for hours. */
export interface LongRequest {
  /** Aborts when the caller disconnects or the process shuts down. */
  signal: AbortSignal
  /** Returns the service with its current settings. Throws if the caller has lost access. */
  recheckAccess(): Promise<Service>
}

/**
 * The long requests of a process, by the signal that ends them. One listener serves all of them, because an AbortSignal compares each new
 * listener with all existing ones.
 */
const getListeners = perObject((signal: AbortSignal) => {
  const listeners = new Set<() => void>()
  signal.addEventListener('abort', () => {
    for (const listener of listeners) listener()
  })
  return listeners
})

export function startLongRequest(
  app: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  role: Role,
): LongRequest {
  const controller = new AbortController()
  const listeners = getListeners(app.shutdownSignal)
  const end = () => {
    listeners.delete(end)
    controller.abort()
  }
  listeners.add(end)
  reply.raw.once('close', end)
  if (app.shutdownSignal.aborted || reply.raw.destroyed) end()
  return { signal: controller.signal, recheckAccess: () => checkStillAdmitted(app, request, role) }
}
