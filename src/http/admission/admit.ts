import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sessions, SignedIn } from '../../auth/sessions.ts'
import type { SignIn } from '../../auth/sign-in.ts'
import type { BackOffice } from '../../backoffice/port/back-office.ts'
import type { Driver } from '../../backoffice/port/driver.ts'
import { DatabaseUnavailable, ServiceMoving } from '../../database/errors.ts'
import { includesRole, type Role } from '../../domain/accounts.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../errors/api-error.ts'
import type { Assignment, Assignments } from '../../store/accounts/accounts.ts'
import { databaseNow } from '../../store/tenancy/services.ts'
import { addStep } from '../../telemetry/timeline.ts'
import type { Sender } from '../../webhooks/sender.ts'
import type { Site } from '../../writes/commit.ts'
import { formatRateLimitHeaders, type Policy, type Rate } from '../limits/rate-limit.ts'
import { chooseMedium, type Media } from '../negotiation/accept.ts'
import { callerOf } from './client-address.ts'
import {
  basicChallenge,
  basicCredentials,
  invalidCredentials,
  isFromOwnPage,
  requireOwnPage,
  sessionEnded,
  sessionToken,
} from './credentials.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request acts on and as what; set by the gate. */
    assignment: Assignment | undefined
    username: string | undefined
    /** That of the database in which the service is. */
    gate: Gate | undefined
  }
}

/** What admitting a request, and serving it, depends on. */
export interface Gate extends Site {
  signIn: SignIn
  /** The sessions of the console. */
  sessions: Sessions
  rate: (service: Service, username: string, policy: Policy) => Rate | undefined
  backOffice: (service: Service) => BackOffice
  /** What stands behind a service, beyond what requests need of it. */
  driver: (service: Service) => Pick<Driver, 'isOurs' | 'syncs' | 'breaker'>
  /** The way out to the endpoints of webhooks. */
  sender: Sender
  /** When the syncs of a service were last pulled, by their names; undefined where nothing is pulled. Costs nothing. */
  syncedAt?: (service: Service) => ReadonlyMap<string, string> | undefined
  /** Aborted once the process is on its way out: nobody waits for anything any longer. */
  ending: AbortSignal
  /** Of the control database's gate: that of a data database, and what reads there what a service is set to. Both throw `DatabaseAway` while it cannot be reached. */
  elsewhere?: (database: string) => Promise<ShardAccess>
}

export interface ShardAccess {
  gate: Gate
  /** As it was two seconds ago or later. Undefined: it is not there. */
  service: (id: number) => Promise<Service | undefined>
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
  const began = performance.now()
  const { username, assignment, gate: at } = await known(gate, request)
  // Also of who is refused: it is told whose request it was.
  request.assignment = assignment
  request.gate = at
  const rate = gate.rate(assignment.service, username, policy)
  if (rate) reply.headers(formatRateLimitHeaders(rate))
  if (rate?.exceeded) throw new ApiError('rate_limited', undefined, { retryAfter: rate.resetsIn })
  requireRole(assignment, role)
  chooseMedium(request.headers.accept, media)
  addStep(request.executionContext?.timeline, 'gate', began)
}

/** The service as it is now, for a caller who was admitted a while ago: it throws where they would not be any more. */
export async function admittedStill(gate: Gate, request: FastifyRequest, role: Role): Promise<Service> {
  const { assignment, gate: at } = await known(gate, request)
  requireRole(assignment, role)
  // What was begun where it was would be told nothing of what it is told here: its caller begins anew.
  if (at.db !== request.gate?.db) throw new ServiceMoving(undefined)
  return assignment.service
}

interface Known {
  username: string
  assignment: Assignment
  gate: Gate
}

/** Who asks, for which of their services, and where that is. */
async function known(gate: Gate, request: FastifyRequest): Promise<Known> {
  const { username, assignments } = await signedIn(gate, request)
  // Also of who asks for a service that is not theirs.
  request.username = username
  const name = request.headers['x-service-name']
  if (typeof name !== 'string' || name === '') throw new ApiError('service_name_required')
  const assignment = assignments.get(name)
  if (!assignment) throw new ApiError('service_not_assigned')
  const { id } = assignment.service
  // Who asked two seconds ago knows where it was.
  const database = assignment.isMoving ? await databaseNow(gate.db, id) : assignment.service.database
  if (database === undefined || !gate.elsewhere) return { username, assignment, gate }
  const { gate: at, service } = await gate.elsewhere(database)
  const found = await service(id)
  if (!found) throw new DatabaseUnavailable(undefined, `The database ${database} does not have the service ${id}.`)
  return { username, assignment: { ...assignment, service: { ...found, database } }, gate: at }
}

/** Who asks: by the header, which programs send, or else by a session of the console. */
async function signedIn(gate: Gate, request: FastifyRequest): Promise<SignedIn> {
  if (request.headers.authorization === undefined && (sessionToken(request) !== undefined || isFromOwnPage(request)))
    return bySession(gate, request)
  const { username, password } = basicCredentials(request.headers.authorization)
  const assignments = await byPassword(gate, request, username, password)
  return { username, assignments }
}

/** Who is signed in to the console. */
export async function bySession({ sessions }: Pick<Gate, 'sessions'>, request: FastifyRequest): Promise<SignedIn> {
  requireOwnPage(request)
  const token = sessionToken(request)
  const found = token === undefined ? undefined : await sessions.read(token)
  if (!found) throw sessionEnded()
  return found
}

/** The services that a username and password open; `challenge` says where to sign in instead. */
export async function byPassword(
  { signIn }: Pick<Gate, 'signIn'>,
  request: FastifyRequest,
  username: string,
  password: string,
  challenge: Record<string, string> = basicChallenge,
): Promise<Assignments> {
  const assignments = await signIn(username, password, () => callerOf(request))
  if (!assignments) throw invalidCredentials(challenge)
  if ('retryAfter' in assignments) throw tooManyFailures(assignments)
  return assignments
}

export const tooManyFailures = ({ retryAfter }: { retryAfter: number }) =>
  new ApiError('too_many_failures', undefined, { retryAfter })

export function requireRole({ role }: Pick<Assignment, 'role'>, needed: Role) {
  if (!includesRole(role, needed)) throw new ApiError('insufficient_role', `This requires the role \`${needed}\`.`)
}
