import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { omitUnchanged } from '../../domain/values/unchanged-fields.ts'
import { ApiError, errorCodes, type FieldError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { withoutEmptyTexts } from './empty-strings.ts'
import { readJson } from './json.ts'
import { validateBody } from './validate.ts'

/** Bytes (contract 1.6). */
const largestBody = 256 * 1024

/** The body of a write whose path says all. */
export const NoBody = Type.Object(
  {},
  { $id: 'NoBody', description: 'Nothing: `{}`, or no body at all.', additionalProperties: false },
)
export const isNoBody = (shape: TSchema) => shape === NoBody

/** An answer that told of more would be many times as long as the body. */
const mostFaults = 100

/** Bodies come as bytes: `readBody` reads them, strictly, once the caller was admitted. */
export function takeBodies(server: FastifyInstance) {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: largestBody }, (_, body, done) => done(null, body))
}

/** What Fastify and Node say of a request that they cannot take, in our words. */
export const bodyErrors: Readonly<Record<string, () => ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('body_too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupported_media_type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError('malformed_request', "`Content-Length` doesn't match the length of the body.", {
      headers: { connection: 'close' },
    }),
  // A method that nobody has heard of, over HTTP/2; over HTTP/1.1 Node's parser refuses it.
  FST_ERR_NOT_FOUND: () => new ApiError('malformed_request', 'The HTTP method is unknown.'),
  // Whoever closes the connection half-way is no fault of ours, to be logged as one; what breaks behind us has its own error by now.
  ECONNRESET: brokenOff,
}

/** Whoever sent a body has gone. */
export function brokenOff() {
  return new ApiError('malformed_request', 'The connection was closed before the complete body arrived.')
}

/** Refuses a body that is not plain JSON before it is read. Where there may be none, whether there is one is seen by its bytes. */
export function requireJsonBody(request: FastifyRequest, shape: TSchema) {
  if (!isNoBody(shape)) requireJson(request)
}

function requireJson({ headers }: FastifyRequest) {
  const [type = '', ...parameters] = String(headers['content-type'] ?? '')
    .split(';')
    .map(part => part.trim().toLowerCase())
  const charsets = parameters.filter(parameter => parameter.startsWith('charset='))
  const isUtf8 = charsets.every(charset => /^charset=("?)utf-8\1$/.test(charset))
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  // Node takes the chunks apart, and leaves what is within them packed.
  const coding = String(headers['transfer-encoding'] ?? 'chunked').toLowerCase()
  if (type !== 'application/json' || !isUtf8 || encoding !== 'identity' || coding !== 'chunked')
    throw new ApiError('unsupported_media_type')
}

/** What a body is read by. */
interface Reading<B extends TSchema> {
  body: B
  keepsEmptyTexts: boolean
  /** The faults of rules beside the shape; they are asked for where the types are right, and something else is not. */
  ruled?: ((body: Static<B>, service: Service) => FieldError[]) | undefined
}

interface Beside {
  /** What is wrong with the request beside its body. */
  faults?: readonly FieldError[]
  /** The record that is changed; it is asked for where the body has faults. */
  stored?(): Promise<{ record: string } | undefined>
}

/** The body as its shape has it; throws every fault of the request at once, those of the shape first, 100 at most. */
export async function readBody<B extends TSchema>(
  { body: shape, keepsEmptyTexts, ruled }: Reading<B>,
  request: FastifyRequest,
  service: Service,
  { faults: others = [], stored }: Beside = {},
): Promise<Static<B>> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  // What has the type of a file is a stream, of which nobody knows yet how long it is (`takeFiles`).
  const isStream = Boolean(request.body) && !Buffer.isBuffer(request.body)
  if (isNoBody(shape) && (bytes.length || isStream)) requireJson(request)
  const given = isNoBody(shape) && bytes.length === 0 ? {} : readJson(bytes)
  const value = keepsEmptyTexts ? given : withoutEmptyTexts(shape, given)
  const faults = validateBody(shape, value, service.settings)
  const { record } = (faults.length && (await stored?.())) || {}
  const left = record === undefined ? faults : omitUnchanged(faults, value, JSON.parse(record))
  const isShaped = left.every(({ code }) => code !== 'invalid_body')
  const ofRules = left.length && isShaped ? (ruled?.(value as Static<B>, service) ?? []) : []
  const all = [...others, ...left, ...ofRules].sort((a, b) => errorCodes[a.code].status - errorCodes[b.code].status)
  throwIfAny(all.slice(0, mostFaults))
  return value as Static<B>
}
