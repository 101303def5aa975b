import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SignedIn } from '../../auth/sessions.ts'
import { DatabaseUnavailable, ServiceMoving } from '../../database/errors.ts'
import { includesRole, type Role } from '../../domain/accounts.ts'
import { type ApiKeyInUse, type KeyRequirements, permitsScope } from '../../domain/api-keys.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../errors/api-error.ts'
import type { Assignment, Assignments } from '../../store/accounts/accounts.ts'
import { readCurrentShard } from '../../store/tenancy/services.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { addStep } from '../../telemetry/timeline.ts'
import type { AppContext } from '../app-context.ts'
import { formatRateLimitHeaders, type Policy } from '../limits/rate-limit.ts'
import { chooseMedium, type Media } from '../negotiation/accept.ts'
import { getClientAddress } from './client-address.ts'
import {
  basicChallenge,
  invalidCredentials,
  isSameOriginScript,
  parseBasicCredentials,
  readSessionToken,
  requireSameOrigin,
  sessionEnded,
} from './credentials.ts'
import { storeFilter, storeParam } from './scopes.ts'

interface Admission {
  operation: KeyRequirements & { role: Role }
  policy: Policy
  media: Media
}

/** Admits a request, or throws. Checks credentials, service, rate, role, scope and accepted media types, in this order. */
export async function admit(
  app: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, policy, media }: Admission,
) {
  const startedAt = performance.now()
  const { username, assignment, appContext } = await identifyCaller(app, request)
  // Set even if the request is rejected below, so that the logs show its service.
  request.assignment = assignment
  request.appContext = appContext
  countRequest(app, reply, { username, assignment }, policy)
  requireRole(assignment, operation.role)
  if (assignment.apiKey) requireKeyPermission(assignment.apiKey, operation, request)
  chooseMedium(request.headers.accept, media)
  addStep(request.executionContext?.timeline, 'admission', startedAt)
}

/** Counts a request and sets the headers of the rate limit. Throws `rate_limited`. */
function countRequest(
  app: AppContext,
  reply: FastifyReply,
  { username, assignment }: Pick<Caller, 'username' | 'assignment'>,
  policy: Policy,
) {
  // Undefined if the service has no limit for this policy.
  const rate = app.rate(assignment.service, username, policy)
  if (rate) reply.headers(formatRateLimitHeaders(rate))
  if (!rate?.exceeded) return
  const { apiKey } = assignment
  const detail = apiKey && `Too many requests of the account ${username}. This one has the API key \`${apiKey.name}\`.`
  throw new ApiError('rate_limited', detail, { retryAfter: rate.resetsIn })
}

/**
 * Counts a request that no route accepts: an unknown path, or a method that the path doesn't support. Doesn't throw if the caller can't be
 * identified, so that everyone gets the same 404 or 405. Throws `rate_limited`.
 */
export async function countUnroutedRequest(app: AppContext, request: FastifyRequest, reply: FastifyReply) {
  const { authorization } = request.headers
  if (authorization === undefined && readSessionToken(request) === undefined) return
  const caller = await ignoreError(identifyCaller(app, request), 'caller of an unknown path not identified')
  if (caller) countRequest(app, reply, caller, ['GET', 'HEAD'].includes(request.method) ? 'read' : 'write')
}

/** Checks that the caller of a long request still has access. Returns the current service. Throws if the service has moved. */
export async function checkStillAdmitted(app: AppContext, request: FastifyRequest, role: Role): Promise<Service> {
  const { assignment, appContext } = await identifyCaller(app, request)
  requireRole(assignment, role)
  // A request that started on the previous shard would miss every change on the new one, so the caller must start again.
  if (appContext.db !== request.appContext?.db) throw new ServiceMoving(undefined)
  return assignment.service
}

interface Caller {
  username: string
  assignment: Assignment
  appContext: AppContext
}

/** Identifies the caller, the service, and the context of the database that has the service. */
async function identifyCaller(app: AppContext, request: FastifyRequest): Promise<Caller> {
  const { username, assignments } = await authenticate(app, request)
  // Set even if the service is not assigned, for the logs.
  request.username = username
  const name = request.headers['x-service-name']
  if (typeof name !== 'string' || name === '') throw new ApiError('service_name_required')
  const assignment = assignments.get(name)
  if (!assignment) throw new ApiError('service_not_assigned')
  const { id } = assignment.service
  // The cached assignment can be 2 s old. While a service is moving, read its current shard.
  const database = assignment.isMoving ? await readCurrentShard(app.db, id) : assignment.service.database
  // A service without a shard is in the control database.
  if (database === undefined || !app.shardGateway) return { username, assignment, appContext: app }
  const shard = await app.shardGateway(database)
  const service = await shard.service(id)
  if (!service) throw new DatabaseUnavailable(undefined, `The database ${database} does not have the service ${id}.`)
  return {
    username,
    assignment: { ...assignment, service: { ...service, database } },
    appContext: shard.appContext,
  }
}

/**
 * Authenticates by the `Authorization` header, which programs send, or else by a session of the console. The console gets `session_ended`
 * even if it sends no token: for a `Basic` challenge, the browser would show its own password dialog.
 */
async function authenticate(
  app: AppContext,
  request: FastifyRequest,
): Promise<Pick<SignedIn, 'username' | 'assignments'>> {
  const isConsole = readSessionToken(request) !== undefined || isSameOriginScript(request)
  if (request.headers.authorization === undefined && isConsole) return authenticateSession(app, request)
  const { username, password } = parseBasicCredentials(request.headers.authorization)
  const assignments = await authenticatePassword(app, request, username, password)
  if (requiresCode(assignments)) throw secondFactorRequired(basicChallenge)
  return { username, assignments }
}

/** Returns the account that is signed in to the console. Throws `session_ended` if there is no session. */
export async function authenticateSession(
  { sessions }: Pick<AppContext, 'sessions'>,
  request: FastifyRequest,
): Promise<SignedIn> {
  requireSameOrigin(request)
  const token = readSessionToken(request)
  const signedIn = token === undefined ? undefined : await sessions.read(token)
  if (!signedIn) throw sessionEnded()
  return signedIn
}

/** Returns the services of an account. Throws `invalid_credentials` with the headers of `challenge`, or `too_many_failures`. */
export async function authenticatePassword(
  { signIn }: Pick<AppContext, 'signIn'>,
  request: FastifyRequest,
  username: string,
  password: string,
  challenge: Record<string, string> = basicChallenge,
): Promise<Assignments> {
  const assignments = await signIn(username, password, () => getClientAddress(request))
  if (!assignments) throw invalidCredentials(challenge)
  if ('retryAfter' in assignments) throw tooManyFailures(assignments)
  return assignments
}

/** True if a password is not sufficient: the account has a second factor, and the request has no API key. */
const requiresCode = (assignments: Assignments) =>
  [...assignments.values()].some(({ hasSecondFactor, apiKey }) => hasSecondFactor && !apiKey)

export const secondFactorRequired = (challenge: Record<string, string>, detail?: string) =>
  new ApiError('second_factor_required', detail, { headers: challenge })

export const tooManyFailures = ({ retryAfter }: { retryAfter: number }) =>
  new ApiError('too_many_failures', undefined, { retryAfter })

export function requireRole({ role }: Pick<Assignment, 'role'>, required: Role) {
  if (!includesRole(role, required)) throw new ApiError('insufficient_role', `This requires the role \`${required}\`.`)
}

/**
 * Throws `insufficient_scope` if a key lacks the scope of an operation, or can't be used for the stores that path or query name. `handleWrite`
 * checks the stores that a body names.
 */
function requireKeyPermission(apiKey: ApiKeyInUse, operation: KeyRequirements, { params, query }: FastifyRequest) {
  const { scope, storeSource } = operation
  if (!permitsScope(apiKey, operation)) {
    const detail =
      scope === 'none'
        ? "API keys can't change accounts and keys. Use the account's password."
        : `This requires the scope \`${scope}\`. The API key \`${apiKey.name}\` doesn't have it.`
    throw new ApiError('insufficient_scope', detail)
  }
  if (storeSource === 'path') requireStores(apiKey, () => [(params as Record<string, string>)[storeParam]])
  else if (storeSource === 'query')
    requireStores(apiKey, () => {
      const storeNumbers = new URLSearchParams(query as string).getAll(storeFilter)
      return storeNumbers.length ? storeNumbers : [undefined]
    })
  else if (storeSource === 'none' && apiKey.stores) {
    const detail = `The API key \`${apiKey.name}\` is limited to stores. It can't call operations for all stores.`
    throw new ApiError('insufficient_scope', detail)
  }
}

/**
 * Throws `insufficient_scope` unless a key can be used for all stores that a request names. `listStores` is called only for a key that is
 * limited to stores. Undefined is a store that the request doesn't name.
 */
export function requireStores({ name, stores }: ApiKeyInUse, listStores: () => readonly (string | undefined)[]) {
  if (stores === null || listStores().every(store => store !== undefined && stores.includes(store))) return
  const detail = `The API key \`${name}\` is limited to the stores ${stores.join(', ')}. The request must name its stores, and only these.`
  throw new ApiError('insufficient_scope', detail)
}
