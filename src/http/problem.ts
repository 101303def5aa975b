import type { FastifyRequest } from 'fastify'
import { CommitUnknown, DatabaseUnavailable, DiskFull, ServiceMoving } from '../database/errors.ts'
import { LocalTime, OneOf } from '../domain/values/fields.ts'
import { ApiError, type ErrorCode, errorCodes } from '../errors/api-error.ts'
import { type Static, Type } from '../schemas/schemas.ts'
import { bodyErrors } from './body/body.ts'

const code = Type.Enum(Object.keys(errorCodes) as ErrorCode[], {
  $id: 'ErrorCode',
  description: 'What went wrong, for programs; each has a page under `type`.',
  examples: ['not_found'],
})

/** RFC 9457 with our members (contract 1.1). */
export type Problem = Static<typeof Problem>
export const Problem = Type.Object(
  {
    type: Type.String({
      description: 'The page about this error.',
      format: 'uri',
      examples: ['https://localhost:8443/errors/not_found'],
    }),
    title: Type.String({ description: 'The error in a sentence.', examples: [errorCodes.not_found.title] }),
    status: Type.Integer({ description: 'The HTTP status.', minimum: 400, maximum: 599, examples: [404] }),
    code,
    detail: Type.Optional(
      Type.String({
        description: 'What it is in this request. Absent for an unexpected fault.',
        examples: ['Customer not found.'],
      }),
    ),
    instance: Type.Optional(
      Type.String({ description: 'The path that was asked for.', examples: ['/customers/65432'] }),
    ),
    requestId: Type.String({
      description: 'The identifier of the request.',
      examples: ['3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'],
    }),
    lockedUntil: Type.Optional(LocalTime('Until when the voucher is held (`voucher_locked`).', '2026-11-21 12:00:00')),
    reason: Type.Optional(
      OneOf('Why the voucher cannot be used (`voucher_unusable`).', ['redeemed', 'expired', 'suspended', 'not issued']),
    ),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            parameter: Type.Optional(Type.String({ description: 'The query parameter.', examples: ['limit'] })),
            pointer: Type.Optional(
              Type.String({ description: 'The place in the body (RFC 6901).', examples: ['/lines/1/sku'] }),
            ),
            code,
            detail: Type.String({
              description: 'What is wrong there.',
              examples: ['`limit` must be an integer from 1 to 100.'],
            }),
          },
          { $id: 'Fault', additionalProperties: false },
        ),
        { description: 'Every fault of the request.' },
      ),
    ),
  },
  { $id: 'Problem', description: 'An error (RFC 9457).', additionalProperties: false },
)

/** What a caller is told of any error: what is not foreseen is unexpected. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof CommitUnknown) return new ApiError('outcome_unknown', undefined, { retryAfter: awaySeconds })
  if (error instanceof DiskFull)
    return new ApiError('service_unavailable', 'Writes are not possible at the moment. Reads still work.', {
      retryAfter: fullSeconds,
    })
  if (error instanceof ServiceMoving) return new ApiError('service_unavailable', error.message, { retryAfter: awaySeconds })
  if (error instanceof DatabaseUnavailable) return new ApiError('service_unavailable', undefined, { retryAfter: awaySeconds })
  const code = String((error as { code?: unknown } | undefined)?.code)
  return bodyErrors[code]?.() ?? new ApiError('internal_error')
}

/** Logs what is not the caller's doing, of an answer that has begun. */
export function logFault(request: FastifyRequest, error: unknown) {
  const known = apiErrorOf(error)
  if (known.status >= 500) request.log.error({ err: known.cause ?? error }, known.code)
}

/** After this long a database that was restarted is usually there. */
const awaySeconds = 2
/** A disk is made room on by somebody. */
const fullSeconds = 30

interface Told {
  publicUrl: string
  requestId: string
  /** The path that was asked for, without its query. */
  instance?: string
}

/** The body of an error. */
export function problem(error: ApiError, { publicUrl, instance, requestId }: Told): Problem {
  return {
    type: `${publicUrl}/errors/${error.code}`,
    title: errorCodes[error.code].title,
    status: error.status,
    code: error.code,
    // An unexpected fault tells the request id alone.
    ...(error.code === 'internal_error'
      ? {}
      : { detail: error.message, ...(instance === undefined ? {} : { instance }) }),
    requestId,
    ...error.members,
    ...(error.errors.length ? { errors: error.errors } : {}),
  }
}

/** On every answer (contract 1). */
export const standingHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
}

/** An error as it goes out, whichever way its bytes take. */
export function problemAnswer(error: ApiError, told: Told) {
  const body = JSON.stringify(problem(error, told))
  const headers = {
    ...standingHeaders,
    'x-request-id': told.requestId,
    ...error.headers,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  }
  return { status: error.status, headers, body }
}
