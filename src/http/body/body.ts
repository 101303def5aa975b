import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getValue, omitUnchanged } from '../../domain/values/unchanged-fields.ts'
import { ApiError, errorCodes, type FieldError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { readJson } from './json.ts'
import { normalizeBody } from './normalize.ts'
import { maxErrors, validateBody } from './validate.ts'

/** The maximum size of a body in bytes. */
export const maxBodyBytes = 256 * 1024

/** The body of a write that needs no fields. */
export const EmptyBody = Type.Object(
  {},
  { $id: 'EmptyBody', description: 'Nothing: `{}`, or no body at all.', additionalProperties: false },
)
export const isEmptyBody = (schema: TSchema) => schema === EmptyBody

/** Makes Fastify pass bodies on as bytes. `readBody` parses them strictly, after the caller was admitted. */
export function parseBodiesAsBytes(server: FastifyInstance) {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_, body, done) => done(null, body))
}

/** API errors for the codes of Fastify's and Node's errors. */
export const bodyErrors: Readonly<Record<string, () => ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('body_too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupported_media_type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError('malformed_request', "`Content-Length` doesn't match the length of the body.", {
      headers: { connection: 'close' },
    }),
  // An unknown method over HTTP/2. Over HTTP/1.1, Node's parser rejects it.
  FST_ERR_NOT_FOUND: () => new ApiError('malformed_request', 'The HTTP method is unknown.'),
  // The client closed the connection while it sent the body. Errors of the back office and the database have codes of their own.
  ECONNRESET: interruptedBody,
}

/** Returns the error of a body whose client disconnected. */
export function interruptedBody() {
  return new ApiError('malformed_request', 'The connection was closed before the complete body arrived.')
}

/** Rejects a body that isn't plain JSON before it is read. For an optional body, `readBody` does that if there are bytes. */
export function requireJsonBody(request: FastifyRequest, schema: TSchema) {
  if (!isEmptyBody(schema)) requireJson(request)
}

function requireJson({ headers }: FastifyRequest) {
  const [type = '', ...parameters] = String(headers['content-type'] ?? '')
    .split(';')
    .map(part => part.trim().toLowerCase())
  const charsets = parameters.filter(parameter => parameter.startsWith('charset='))
  const isUtf8 = charsets.every(charset => /^charset=("?)utf-8\1$/.test(charset))
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  // Node decodes chunks, but no other transfer coding.
  const coding = String(headers['transfer-encoding'] ?? 'chunked').toLowerCase()
  if (type !== 'application/json')
    throw new ApiError('unsupported_media_type', '`Content-Type` must be `application/json`.')
  if (!isUtf8 || encoding !== 'identity' || coding !== 'chunked') throw new ApiError('unsupported_media_type')
}

interface BodyRules<B extends TSchema> {
  body: B
  /** False: empty strings in optional fields become null. */
  keepsEmptyTexts: boolean
  /** Returns the errors of rules that the schema can't express. Called if the types are right but the body has other errors. */
  checkRules?: ((body: Static<B>, service: Service) => FieldError[]) | undefined
}

interface BodyContext {
  /** Errors of the request outside its body. */
  otherErrors?: readonly FieldError[]
  /** Loads the record that the write changes. Called if the body has errors, because unchanged fields are not validated. */
  loadStored?(): Promise<{ record: string } | undefined>
}

/** Parses and validates a body. Throws all errors of the request at once, `invalid_body` first, at most 100. */
export async function readBody<B extends TSchema>(
  { body: schema, keepsEmptyTexts, checkRules }: BodyRules<B>,
  request: FastifyRequest,
  service: Service,
  { otherErrors = [], loadStored }: BodyContext = {},
): Promise<Static<B>> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  // A body with the content type of a file is a stream of unknown length (routing/uploads.ts).
  const isStream = Boolean(request.body) && !Buffer.isBuffer(request.body)
  if (isEmptyBody(schema) && (bytes.length || isStream)) requireJson(request)
  const parsed = isEmptyBody(schema) && bytes.length === 0 ? {} : readJson(bytes)
  const value = keepsEmptyTexts ? parsed : normalizeBody(schema, parsed)
  const schemaErrors = validateBody(schema, value, service.settings)
  const { record } = (schemaErrors.length && (await loadStored?.())) || {}
  const errors = record === undefined ? schemaErrors : omitUnchanged(schemaErrors, value, JSON.parse(record))
  // If the pointer of an error leads to a list, the list is too long. Its entries are not validated, so they can have any type.
  const hasDocumentedTypes = errors.every(
    ({ code, pointer = '' }) => code !== 'invalid_body' && !Array.isArray(getValue(value, pointer)),
  )
  const ruleErrors = errors.length && hasDocumentedTypes ? (checkRules?.(value as Static<B>, service) ?? []) : []
  const allErrors = [...otherErrors, ...errors, ...ruleErrors].sort(
    (a, b) => errorCodes[a.code].status - errorCodes[b.code].status,
  )
  throwIfAny(allErrors.slice(0, maxErrors))
  return value as Static<B>
}
