import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../database/db.ts'
import type { AuditChange } from '../../domain/audit.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError, type ErrorCode, type FieldError } from '../../errors/api-error.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import type { StoredResponse } from '../../store/writes/idempotency.ts'
import { failpoint } from '../../testing/failpoints.ts'
import { dryRun } from '../../writes/dry-run.ts'
import { executeWrite, type WriteResult, type WriteRuntime } from '../../writes/execute.ts'
import { createIdentity, IdempotentReplay, readIdempotencyKey } from '../../writes/idempotency.ts'
import type { CommitPhase, Write } from '../../writes/write.ts'
import { requireStores } from '../admission/admit.ts'
import { listBodyStores } from '../admission/scopes.ts'
import type { AppContext } from '../app-context.ts'
import { readBody } from '../body/body.ts'
import { toCanonicalJson } from '../body/json.ts'
import type { Policy } from '../limits/rate-limit.ts'
import type { Warning } from '../pagination/lists.ts'
import {
  createEtag,
  createRequestContext,
  getRequestPath,
  json,
  matchesEtag,
  normalizePath,
  type Params,
  type RequestContext,
  type RouteOptions,
  selectAppContext,
} from './operation.ts'
import { prefersDryRun } from './prefer.ts'
import { parseQuery } from './query.ts'

export type WriteMethod = 'POST' | 'PUT' | 'DELETE'

export interface WriteRouteOptions<B extends TSchema, P extends Params> extends RouteOptions<P> {
  body: B
  response: TSchema
  /** The status code of success. Default 201 for POST, 200 otherwise. */
  status?: number
  /** All status codes of success, if there are several. */
  statuses?: readonly number[]
  /** True if the operation accepts an `Idempotency-Key`. Default: every POST does. */
  repeatable?: boolean
  /** False if the operation only reads and has no audit entry. Default true. */
  isAudited?: boolean
  etag?: boolean
  /** True if responses can have warnings. */
  warns?: boolean
  policy?: Policy
  /** True if an empty string in an optional field differs from null. */
  keepsEmptyTexts?: boolean
  /** Loads the record that is changed. The body can repeat its stored values, even if they break a rule of the schema. */
  loadStored?(db: Db, service: Service, params: { [name in keyof P]: string }): Promise<{ record: string } | undefined>
  /** Counts a guess (for example a PIN) in a request whose key was used before. Returns the error that hides the state of the key. */
  countGuess?(tx: Db, repeat: RepeatContext<Static<B>, P>): Promise<ApiError | undefined>
  /** Returns the errors of rules that the schema can't express. They are reported together with the errors of the schema. */
  checkRules?(body: Static<B>, service: Service): FieldError[]
  /** The response fields that the write generates unless the body has them: numbers, secrets. Null after a dry run. */
  generated?: readonly string[]
}

/** A write whose key was used before. */
interface RepeatContext<Body = unknown, P extends Params = Params> extends RequestContext<P> {
  body: Body
  /** True if the key was used for another request. */
  isOtherRequest: boolean
}

/** The request, as a handler that writes receives it. */
export interface WriteContext<Body = unknown, P extends Params = Params> extends Write, RequestContext<P> {
  body: Body
}

/** The handler of a write: does the work before the last transaction, if any, and returns the work of the last transaction. */
export type WriteWork<Body = unknown, P extends Params = Params> = (
  context: WriteContext<Body, P>,
) => CommitPhase<Written | ApiError> | Promise<CommitPhase<Written | ApiError>>

/** The written record, as stored JSON or as a value. */
type Written = ({ record: string } | { data: unknown }) & {
  /** The path of the record, for the audit log and for `Location`. */
  subject: string
  /** The old and new values, for the audit log. */
  changes?: readonly AuditChange[]
  status?: number
  warnings?: Warning[]
}

/** The options of a write with their defaults. */
export interface WriteOptions {
  /** Method and path pattern: `PUT /customers/:id`. */
  operation: string
  status: number
  repeatable: boolean
  isAudited: boolean
  etag: boolean
  body: TSchema
  keepsEmptyTexts: boolean
  loadStored: WriteRouteOptions<TSchema, Params>['loadStored']
  countGuess: WriteRouteOptions<TSchema, Params>['countGuess']
  checkRules: WriteRouteOptions<TSchema, Params>['checkRules']
  generated: readonly string[]
  inControlDatabase: boolean
}

export function toWriteOptions<B extends TSchema, P extends Params>(
  method: WriteMethod,
  path: string,
  options: WriteRouteOptions<B, P>,
): WriteOptions {
  const { status, repeatable, isAudited = true, etag = false, body, keepsEmptyTexts = false } = options
  const { loadStored, countGuess, checkRules, generated = [], inControlDatabase = false } = options
  const isPost = method === 'POST'
  return {
    operation: `${method} ${path}`,
    status: status ?? (isPost ? 201 : 200),
    repeatable: repeatable ?? isPost,
    isAudited,
    etag,
    body,
    keepsEmptyTexts,
    loadStored,
    countGuess,
    checkRules,
    generated,
    inControlDatabase,
  }
}

/** Handles one write. Key, effect, audit entry and response are committed in one transaction. */
export async function handleWrite(
  control: AppContext,
  options: WriteOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  work: WriteWork,
) {
  const app = selectAppContext(control, request, options)
  const context = createRequestContext(app, request)
  const { service, params, header } = context
  const { errors: queryErrors } = parseQuery(noParameters, request.query as string, service.settings.timeZone)
  const isDryRun = prefersDryRun(header('prefer'))
  const key = options.repeatable && !isDryRun ? readIdempotencyKey(header('idempotency-key'), service) : undefined
  const loadStoredRecord = async () => options.loadStored?.(app.db, service, params)
  const body = await readBody(options, request, service, { otherErrors: queryErrors, loadStored: loadStoredRecord })
  const apiKey = request.assignment?.apiKey
  if (apiKey) requireStores(apiKey, () => listBodyStores(options.body, body))
  const { username = '', id: requestId } = request
  const requireMatch = (current: string) =>
    checkPrecondition(header('if-match'), current, options.etag && service.settings.requireIfMatch)
  const execute = prepareWrite(options, { ...context, body, username, requestId, requireMatch }, work)
  reply.type(json)
  if (isDryRun) {
    reply.header('preference-applied', 'tx=rollback')
    const { response } = await dryRun(app, service, execute)
    reply.code(response.status)
    return reply.send(withoutGenerated(response.body, options.generated, body))
  }
  // A response about accounts can contain a password, so only the same caller gets it again.
  const caller = options.inControlDatabase ? { by: username } : {}
  const canonicalRequest = toCanonicalJson({ path: normalizePath(getRequestPath(request)), body, ...caller })
  const identity = createIdentity(app.keys, service, options.operation, key, canonicalRequest)
  const { origin } = context
  const { operation } = options
  const writeRequest = { operation, params, body, username, requestId, agent: origin.agent, apiKey: origin.apiKey }
  const { response, isReplay } = await executeWrite(app, service, identity, writeRequest, execute).then(
    result => ({ response: result, isReplay: false }),
    async error => ({ response: await findReplay(app, options, { ...context, body }, error), isReplay: true }),
  )
  failpoint('after_commit')
  reply.headers(response.headers).code(response.status)
  if (isReplay) reply.header('idempotent-replayed', 'true')
  return reply.send(response.body)
}

/**
 * Returns the stored response if a write failed because its key was used for the same request. Throws any other error. If the key was used
 * before, for the same request or another one, the guess in the request is counted first.
 */
async function findReplay(
  app: AppContext,
  { countGuess }: WriteOptions,
  context: Omit<RepeatContext, 'isOtherRequest'>,
  error: unknown,
): Promise<StoredResponse> {
  const isOtherRequest = error instanceof ApiError && error.code === 'idempotency_key_reused'
  const isRepeat = isOtherRequest || error instanceof IdempotentReplay
  const guessError =
    isRepeat && countGuess && (await app.db.transaction(tx => countGuess(tx, { ...context, isOtherRequest })))
  if (guessError) throw guessError
  if (error instanceof IdempotentReplay) return error.response
  throw error
}

/** Sets the generated fields of a dry run's response to null, unless the body has them. */
function withoutGenerated(response: string, generated: readonly string[], body: unknown) {
  const { data, ...members } = JSON.parse(response) as { data: Record<string, unknown> }
  const sent = (body ?? {}) as Record<string, unknown>
  for (const name of generated) if (name in data && sent[name] == null) data[name] = null
  return JSON.stringify({ data, ...members })
}

/** Wraps the handler of a write. The returned function runs the handler, and adds the audit entry and the response to its commit phase. */
export const prepareWrite =
  (options: WriteOptions, context: Omit<WriteContext, keyof WriteRuntime>, work: WriteWork) =>
  async (runtime: WriteRuntime): Promise<CommitPhase<WriteResult | ApiError>> => {
    const { username, requestId, body, origin } = context
    failpoint('before_effect')
    const commit = await work({ ...context, ...runtime })
    return async tx => {
      const written = await commit(tx)
      failpoint('after_effect')
      if (written instanceof ApiError) return written
      const { operation, isAudited } = options
      const { agent, apiKey } = origin
      const { subject, changes } = written
      const audited = isAudited ? { username, requestId, agent, apiKey, operation, subject, body, changes } : undefined
      return { response: toStoredResponse(options, written), audited }
    }
  }

function toStoredResponse(options: WriteOptions, written: Written): StoredResponse {
  const { status = options.status, subject, warnings } = written
  const data = 'record' in written ? written.record : JSON.stringify(written.data)
  const meta = warnings?.length ? `,"meta":${JSON.stringify({ warnings })}` : ''
  return {
    status,
    body: `{"data":${data}${meta}}`,
    headers: {
      ...(status === 201 || status === 202 ? { location: subject } : {}),
      ...(options.etag ? { etag: createEtag(`{"data":${data}}`) } : {}),
    },
  }
}

/** Checks `If-Match` (RFC 9110, section 13.1.1). Throws `precondition_failed`, or `precondition_required` (RFC 6585, section 3). */
function checkPrecondition(ifMatch: string | undefined, record: string, isRequired: boolean) {
  if (ifMatch === undefined) {
    if (isRequired) throw new ApiError('precondition_required')
    return
  }
  if (!matchesEtag(ifMatch, createEtag(`{"data":${record}}`))) throw new ApiError('precondition_failed')
}

/** Writes have no query parameters. Any parameter is rejected by name, for example a PIN. */
const noParameters = Type.Object({})

/** The error codes that every write can return. */
export const errorsOfEveryWrite: readonly ErrorCode[] = [
  'malformed_json',
  'invalid_body',
  'body_too_large',
  'unsupported_media_type',
  'invalid_field',
  'concurrent_update',
  'back_office_error',
  'back_office_unavailable',
  'outcome_unknown',
]

/** The additional error codes of a write that accepts an `Idempotency-Key`. */
export const errorsOfRepeatable: readonly ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_in_progress',
  'idempotency_key_reused',
]
