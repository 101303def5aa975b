import type { FastifyRequest } from 'fastify'
import { CommitUnknown, DatabaseUnavailable, DiskFull, ServiceMoving } from '../database/errors.ts'
import { LocalTime, OneOf } from '../domain/values/fields.ts'
import { ApiError, type ErrorCode, errorCodes } from '../errors/api-error.ts'
import { type Static, Type } from '../schemas/schemas.ts'
import { bodyErrors } from './body/body.ts'

export const Code = Type.Enum(Object.keys(errorCodes) as ErrorCode[], {
  $id: 'ErrorCode',
  description: 'The error code, for programs. `type` is the page about it.',
  examples: ['not_found'],
})

/** An error response: RFC 9457 with additional members. */
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
    code: Code,
    detail: Type.Optional(
      Type.String({
        description: 'The error in this request. Absent for an unexpected error.',
        examples: ['Customer not found.'],
      }),
    ),
    instance: Type.Optional(Type.String({ description: 'The path of the request.', examples: ['/customers/65432'] })),
    requestId: Type.String({
      description: 'The identifier of the request.',
      examples: ['3f1c9a52-6a0e-4c57-9d0f-2b7d3c1a8e44'],
    }),
    lockedUntil: Type.Optional(
      LocalTime('When the lock of the voucher expires (`voucher_locked`).', '2026-11-21 12:00:00'),
    ),
    reason: Type.Optional(
      OneOf("The reason why the voucher can't be used (`voucher_unusable`).", [
        'redeemed',
        'expired',
        'suspended',
        'not issued',
      ]),
    ),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            parameter: Type.Optional(Type.String({ description: 'The query parameter.', examples: ['limit'] })),
            pointer: Type.Optional(
              Type.String({ description: 'The place in the body (RFC 6901).', examples: ['/lines/1/sku'] }),
            ),
            code: Code,
            detail: Type.String({
              description: 'The error and the requirement.',
              examples: ['`limit` must be an integer from 1 to 100.'],
            }),
            available: Type.Optional(
              Type.Integer({ description: 'The units that can be sold (`insufficient_stock`).', examples: [2] }),
            ),
            requested: Type.Optional(
              Type.Integer({ description: 'The ordered units (`insufficient_stock`).', examples: [3] }),
            ),
          },
          { $id: 'FieldError', additionalProperties: false },
        ),
        { description: 'All field errors of the request.' },
      ),
    ),
  },
  { $id: 'Problem', description: 'An error (RFC 9457).', additionalProperties: false },
)

/** Converts any error to the error of the response. An unexpected error becomes `internal_error`. */
export function toPublicError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof CommitUnknown)
    return new ApiError('outcome_unknown', undefined, { retryAfter: outageRetrySeconds })
  if (error instanceof DiskFull)
    return new ApiError('service_unavailable', 'Writes are not possible at the moment. Reads still work.', {
      retryAfter: diskFullRetrySeconds,
    })
  if (error instanceof ServiceMoving)
    return new ApiError('service_unavailable', error.message, { retryAfter: outageRetrySeconds })
  if (error instanceof DatabaseUnavailable)
    return new ApiError('service_unavailable', undefined, { retryAfter: outageRetrySeconds })
  // Errors of Fastify and Node about the body or the method have a code.
  const errorCode = String((error as { code?: unknown } | undefined)?.code)
  return bodyErrors[errorCode]?.() ?? new ApiError('internal_error')
}

/** Logs an error that occurred after the response began, if its status would be 500 or above. */
export function logServerError(request: FastifyRequest, error: unknown) {
  const publicError = toPublicError(error)
  if (publicError.status >= 500) request.log.error({ err: publicError.cause ?? error }, publicError.code)
}

/** Seconds after which a restarted database is usually available. */
const outageRetrySeconds = 2
/** Seconds until a retry if the disk is full. Longer than for an outage, because an operator must free space. */
const diskFullRetrySeconds = 30

interface ProblemContext {
  publicUrl: string
  requestId: string
  /** The path of the request, without its query. */
  instance?: string
}

/** Creates the body of an error response. */
export function createProblem(error: ApiError, { publicUrl, instance, requestId }: ProblemContext): Problem {
  return {
    type: `${publicUrl}/errors/${error.code}`,
    title: errorCodes[error.code].title,
    status: error.status,
    code: error.code,
    // An unexpected error shows only the request ID.
    ...(error.code === 'internal_error'
      ? {}
      : { detail: error.message, ...(instance === undefined ? {} : { instance }) }),
    requestId,
    ...error.members,
    ...(error.errors.length ? { errors: error.errors } : {}),
  }
}

/** The headers of every response. */
export const defaultHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
}

/** Creates an error response: status, headers and body. */
export function createProblemResponse(error: ApiError, context: ProblemContext) {
  const body = JSON.stringify(createProblem(error, context))
  const headers = {
    ...defaultHeaders,
    'x-request-id': context.requestId,
    ...error.headers,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  }
  return { status: error.status, headers, body }
}
