import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError, type ErrorCode, type FieldError } from '../../errors/api-error.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import type { Answer } from '../../store/writes/idempotency.ts'
import { failpoint } from '../../testing/failpoints.ts'
import { tryOut } from '../../writes/dry-run.ts'
import { type Carrying, carryOut, type Done } from '../../writes/execute.ts'
import { AnsweredBefore, identityOf, readIdempotencyKey } from '../../writes/idempotency.ts'
import type { CommitPhase, Write } from '../../writes/write.ts'
import type { Gate } from '../admission/admit.ts'
import { readBody } from '../body/body.ts'
import { canonicalJson } from '../body/json.ts'
import type { Policy } from '../limits/rate-limit.ts'
import type { Warning } from '../pagination/lists.ts'
import {
  type Asked,
  askedOf,
  type Described,
  gateOf,
  instanceOf,
  json,
  namesTag,
  type Params,
  plainly,
  tagOf,
} from './operation.ts'
import { isTrial } from './prefer.ts'
import { readQuery } from './query.ts'

export type WriteMethod = 'POST' | 'PUT' | 'DELETE'

export interface WriteDescribed<B extends TSchema, P extends Params> extends Described<P> {
  body: B
  answer: TSchema
  /** What it succeeds with; 201 for POST, else 200. */
  status?: number
  /** All that it may succeed with, where there are several. */
  statuses?: readonly number[]
  /** Whether it takes an Idempotency-Key; every POST does. */
  repeatable?: boolean
  /** Whether it leaves a line in the audit; false for what only reads. */
  audited?: boolean
  etag?: boolean
  /** Whether the answer may carry warnings. */
  warns?: boolean
  policy?: Policy
  /** Whether an empty text in an optional field is something else than null. */
  keepsEmptyTexts?: boolean
  /** The record that it changes: what the body has as it is stored can be sent back, whatever rule of the shape it breaks. */
  stored?(db: Db, service: Service, params: { [name in keyof P]: string }): Promise<{ record: string } | undefined>
  /** What the body has that could be guessed at is judged, and counted, whatever is known of its key: why nothing is told of that. */
  guessed?(tx: Db, again: Again<Static<B>, P>): Promise<ApiError | undefined>
  /** The faults that its work would find in the body beside those of the shape, to be told with them. */
  ruled?(body: Static<B>, service: Service): FieldError[]
  /** What of the answer the write makes up, where the body does not say it: numbers, secrets. A trial shows null there. */
  made?: readonly string[]
}

/** A write that comes with a key that was used before. */
interface Again<Body = unknown, P extends Params = Params> extends Asked<P> {
  body: Body
  /** Whether it is another one than came with the key. */
  isOther: boolean
}

/** What a write's function is given. */
export interface WriteContext<Body = unknown, P extends Params = Params> extends Write, Asked<P> {
  body: Body
}

/** What a write does before its last transaction, if anything; returns what it does in it, which is committed with audit and answer. */
export type WriteWork<Body = unknown, P extends Params = Params> = (
  context: WriteContext<Body, P>,
) => CommitPhase<Written | ApiError> | Promise<CommitPhase<Written | ApiError>>

/** What a write comes to. */
type Written = ({ record: string } | { data: unknown }) & {
  /** The path of what was written; for the audit, and for `Location` where it is new. */
  subject: string
  status?: number
  warnings?: Warning[]
}

/** What there is to know of a write beside its work. */
export interface How {
  /** Method and path, its parameters by their names. */
  operation: string
  status: number
  repeatable: boolean
  audited: boolean
  etag: boolean
  body: TSchema
  keepsEmptyTexts: boolean
  stored: WriteDescribed<TSchema, Params>['stored']
  guessed: WriteDescribed<TSchema, Params>['guessed']
  ruled: WriteDescribed<TSchema, Params>['ruled']
  made: readonly string[]
  ofAccounts: boolean
}

export function howOf<B extends TSchema, P extends Params>(
  method: WriteMethod,
  path: string,
  described: WriteDescribed<B, P>,
): How {
  const { status, repeatable, audited = true, etag = false, body } = described
  const { keepsEmptyTexts = false, stored, guessed, ruled, made = [], ofAccounts = false } = described
  const isPost = method === 'POST'
  return {
    operation: `${method} ${path}`,
    status: status ?? (isPost ? 201 : 200),
    repeatable: repeatable ?? isPost,
    audited,
    etag,
    body,
    keepsEmptyTexts,
    stored,
    guessed,
    ruled,
    made,
    ofAccounts,
  }
}

/** One write: body, key, effect, audit and answer; the last three in one transaction (contract 1.5). */
export async function handleWrite(
  control: Gate,
  how: How,
  request: FastifyRequest,
  reply: FastifyReply,
  work: WriteWork,
) {
  const gate = gateOf(control, request, how)
  const asked = askedOf(gate, request)
  const { service, params, header } = asked
  const { errors: faults } = readQuery(nothing, request.query as string, service.settings.timeZone)
  const trial = isTrial(header('prefer'))
  const key = how.repeatable && !trial ? readIdempotencyKey(header('idempotency-key'), service) : undefined
  const stored = async () => how.stored?.(gate.db, service, params)
  const body = await readBody(how, request, service, { faults, stored })
  const { username = '', id: requestId } = request
  const requireMatch = (current: string) =>
    matches(header('if-match'), current, how.etag && service.settings.requireIfMatch)
  const begin = beginOf(how, { ...asked, body, username, requestId, requireMatch }, work)
  reply.type(json)
  if (trial) {
    reply.header('preference-applied', 'tx=rollback')
    const { answer } = await tryOut(gate, service, begin)
    reply.code(answer.status)
    return reply.send(withoutMade(answer.body, how.made, body))
  }
  // A password is given again only to whom it was given: whether others may have it is judged where it is made.
  const by = how.ofAccounts ? { by: username } : {}
  const text = canonicalJson({ path: plainly(instanceOf(request)), body, ...by })
  const identity = identityOf(gate.keys, service, how.operation, key, text)
  const requested = { operation: how.operation, params, body, username, requestId }
  const { answer, replayed } = await carryOut(gate, service, identity, requested, begin).then(
    answer => ({ answer, replayed: false }),
    async error => {
      const isOther = error instanceof ApiError && error.code === 'idempotency_key_reused'
      const isAgain = isOther || error instanceof AnsweredBefore
      const { guessed } = how
      const against = isAgain && guessed && (await gate.db.transaction(tx => guessed(tx, { ...asked, body, isOther })))
      if (against) throw against
      if (error instanceof AnsweredBefore) return { answer: error.answer, replayed: true }
      throw error
    },
  )
  failpoint('after_commit')
  reply.headers(answer.headers).code(answer.status)
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.send(answer.body)
}

/** An answer without what only a write that is kept would make: numbers, secrets. */
function withoutMade(answer: string, made: readonly string[], body: unknown) {
  const { data, ...rest } = JSON.parse(answer) as { data: Record<string, unknown> }
  const given = (body ?? {}) as Record<string, unknown>
  for (const name of made) if (name in data && given[name] == null) data[name] = null
  return JSON.stringify({ data, ...rest })
}

/** The work of a write, ready to be carried out: does what comes before the last transaction, and returns all that is done in it. */
export const beginOf =
  (how: How, asked: Omit<WriteContext, keyof Carrying>, work: WriteWork) =>
  async (carrying: Carrying): Promise<CommitPhase<Done | ApiError>> => {
    const { username, requestId, body } = asked
    failpoint('before_effect')
    const finish = await work({ ...asked, ...carrying })
    return async tx => {
      const written = await finish(tx)
      failpoint('after_effect')
      if (written instanceof ApiError) return written
      const { operation } = how
      const audited = how.audited ? { username, requestId, operation, subject: written.subject, body } : undefined
      return { answer: answerOf(how, written), audited }
    }
  }

function answerOf(how: How, written: Written): Answer {
  const { status = how.status, subject, warnings } = written
  const data = 'record' in written ? written.record : JSON.stringify(written.data)
  const meta = warnings?.length ? `,"meta":${JSON.stringify({ warnings })}` : ''
  return {
    status,
    body: `{"data":${data}${meta}}`,
    headers: {
      ...(status === 201 || status === 202 ? { location: subject } : {}),
      ...(how.etag ? { etag: tagOf(`{"data":${data}}`) } : {}),
    },
  }
}

/** RFC 9110, section 13.1.1, and RFC 6585, section 3. */
function matches(given: string | undefined, record: string, required: boolean) {
  if (given === undefined) {
    if (required) throw new ApiError('precondition_required')
    return
  }
  if (!namesTag(given, tagOf(`{"data":${record}}`))) throw new ApiError('precondition_failed')
}

/** No write takes a query. A PIN there is refused by name, like anything else. */
const nothing = Type.Object({})

/** What any write may be answered. */
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

/** What a write with an Idempotency-Key may be answered on top. */
export const errorsOfRepeatable: readonly ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_in_progress',
  'idempotency_key_reused',
]
