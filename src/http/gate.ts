import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Assignment, type Role, reaches } from '../accounts.ts'
import type { BackOffice } from '../domain/port/backoffice.ts'
import type { Driver } from '../domain/port/driver.ts'
import { ApiError } from '../errors.ts'
import type { Service } from '../settings.ts'
import type { SignIn } from '../sign-in.ts'
import type { Sender } from '../webhooks/sender.ts'
import { basicCredentials, invalidCredentials } from './credentials.ts'
import { type Media, mediumFor } from './media/accept.ts'
import type { Site } from './once/steps.ts'
import { type Policy, type Rate, rateHeaders } from './rates.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request acts on and as what; set by the gate. */
    assignment: Assignment | undefined
    username: string | undefined
  }
}

/** What admitting a request, and serving it, depends on. */
export interface Gate extends Site {
  signIn: SignIn
  rate: (service: Service, username: string, policy: Policy) => Rate | undefined
  backOffice: (service: Service) => BackOffice
  /** What stands behind a service, beyond what requests need of it. */
  driver: (service: Service) => Pick<Driver, 'feeds' | 'breaker'>
  /** The way out to the endpoints of webhooks. */
  sender: Sender
  /** When the feeds of a service were last pulled, by their names; undefined where nothing is pulled. Costs nothing. */
  syncedAt?: (service: Service) => ReadonlyMap<string, string> | undefined
  /** Aborted once the process is on its way out: nobody waits for anything any longer. */
  ending: AbortSignal
}

interface Admission {
  role: Role
  policy: Policy
  media: Media
}

/** Credentials, service, rate, role and what the caller takes, in this order (contract 1). */
export async function admit(
  gate: Gate,
  request: FastifyRequest,
  reply: FastifyReply,
  { role, policy, media }: Admission,
) {
  const { username, assignment } = await known(gate, request)
  const rate = gate.rate(assignment.service, username, policy)
  if (rate) reply.headers(rateHeaders(rate))
  if (rate?.exceeded) throw new ApiError('rate_limited', undefined, { retryAfter: rate.resetsIn })
  requireRole(assignment, role)
  mediumFor(request.headers.accept, media)
  request.assignment = assignment
  request.username = username
}

/** The service as it is now, for a caller who was admitted a while ago: it throws where they would not be any more. */
export async function admittedStill(gate: Gate, request: FastifyRequest, role: Role): Promise<Service> {
  const { assignment } = await known(gate, request)
  requireRole(assignment, role)
  return assignment.service
}

/** Who asks, and for which of their services. */
async function known(gate: Gate, request: FastifyRequest): Promise<{ username: string; assignment: Assignment }> {
  const { username, password } = basicCredentials(request.headers.authorization)
  const assignments = await gate.signIn(username, password, request.ip)
  if (!assignments) throw invalidCredentials()
  if ('retryAfter' in assignments)
    throw new ApiError('too_many_failures', undefined, { retryAfter: assignments.retryAfter })

  const name = request.headers['x-service-name']
  if (typeof name !== 'string' || name === '') throw new ApiError('service_name_required')
  const assignment = assignments.get(name)
  if (!assignment) throw new ApiError('service_not_assigned')
  return { username, assignment }
}

function requireRole({ role }: Assignment, needed: Role) {
  if (!reaches(role, needed)) throw new ApiError('insufficient_role', `The role \`${needed}\` is needed.`)
}
