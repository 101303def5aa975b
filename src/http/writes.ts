import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { Role } from '../accounts.ts'
import type { Db } from '../db.ts'
import type { Write } from '../domain/write.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import { failpoint } from '../failpoints.ts'
import { refuse } from '../refuse.ts'
import { record } from '../store/running/audit.ts'
import type { Answer } from '../store/running/idempotency.ts'
import { readBody } from './body.ts'
import type { Gate } from './gate.ts'
import { once, readIdempotencyKey } from './idempotency.ts'
import { canonicalJson } from './json.ts'
import type { Warning } from './lists.ts'
import { type Context, contextOf, type Described, instanceOf, json, namesTag, type Params, tagOf } from './operation.ts'
import { readQuery } from './query.ts'
import type { Policy } from './rates.ts'

export interface WriteDescribed<B extends TSchema, P extends Params> extends Described<P> {
  role?: Role
  body: B
  answer: TSchema
  /** What it succeeds with; 201 for POST, 200 for PUT. */
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
}

/** What a write's function is given: all that it does goes through `tx`, and is committed with the answer, or not at all. */
export interface WriteContext<Body = unknown, P extends Params = Params>
  extends Write,
    Omit<Context<unknown, P>, 'db' | 'query'> {
  body: Body
}

/** What a write comes to. */
export type Written = ({ record: string } | { data: unknown }) & {
  /** The path of what was written; for the audit, and for `Location` where it is new. */
  subject: string
  status?: number
  warnings?: Warning[]
}

interface How {
  operation: string
  status: number
  repeatable: boolean
  audited: boolean
  etag: boolean
  body: TSchema
  keepsEmptyTexts: boolean
}

/** One write: body, key, effect, audit and answer; the last four in one transaction (contract 1.5). */
export async function handleWrite(
  gate: Gate,
  how: How,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (context: WriteContext) => Promise<Written | ApiError>,
) {
  const { db: _, query: __, ...context } = contextOf(gate, request)
  const { service } = context
  refuseQuery(request, service.settings.timeZone)
  const key = how.repeatable ? readIdempotencyKey(context.header('idempotency-key'), service) : undefined
  const body = readBody(how, request, service)
  const requested = canonicalJson({ path: instanceOf(request), body })
  const username = request.username ?? ''
  const attempt = async (tx: Db, reference: string) => {
    const requireMatch = (current: string) =>
      matches(context.header('if-match'), current, service.settings.requireIfMatch)
    failpoint('before_effect')
    const keyed = { reference, isKeyed: key !== undefined }
    const written = await work({ ...context, tx, body, username, requestId: request.id, ...keyed, requireMatch })
    failpoint('after_effect')
    if (written instanceof ApiError) return written
    if (how.audited)
      await record(tx, service, {
        username,
        requestId: request.id,
        operation: how.operation,
        subject: written.subject,
        body,
      })
    return answerOf(how, written)
  }
  const end = await gate.turn?.(service)
  const { answer, replayed } = await once(gate, service, how.operation, key, requested, attempt).finally(end)
  failpoint('after_commit')
  reply.headers(answer.headers).code(answer.status).type(json)
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.send(answer.body)
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

const nothing = Type.Object({})

/** No write takes a query. A PIN there is refused by name like anything else, but it is also spent: it stands in logs now. */
function refuseQuery(request: FastifyRequest, timeZone: string) {
  refuse(readQuery(nothing, request.query as string, timeZone).faults)
}

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
