import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'

/** Limits of every request. The introduction of the API reference and the page of the limits document them. */
export const maxHeaderBytes = 16 * 1024
export const maxUrlLength = 8 * 1024
export const maxHeaders = 100
/** The limit of Node's parser, which counts the request line too. */
export const maxHeaderSize = maxHeaderBytes + maxUrlLength + 2 * 1024

/**
 * Options of an error that also closes the connection. For requests whose host or version is ambiguous, and for bytes that could be one
 * request or two (request smuggling).
 */
const closeConnection = { headers: { connection: 'close' } }

/** Returns the first violated limit of a request, whatever its path. */
export function checkRequestLimits({ protocol, url, raw }: FastifyRequest): ApiError | undefined {
  if (protocol !== 'https') return new ApiError('https_required')
  // Node's HTTP/1.1 parser also accepts the versions 0.9 and 2.0.
  if (!('stream' in raw) && raw.httpVersionMajor !== 1)
    return new ApiError('malformed_request', 'The HTTP version must be 1.0 or 1.1.', closeConnection)
  if (url.length > maxUrlLength) return new ApiError('uri_too_long')
  if (hasTooLargeHeaders(raw)) return new ApiError('headers_too_large')
  return checkHost(raw) ?? checkSingleHeaders(raw)
}

/** True if a request has too many or too large headers. Sizes are those of HTTP/1.1. HTTP/2 pseudo-headers such as `:path` don't count. */
function hasTooLargeHeaders({ rawHeaders }: IncomingMessage) {
  let [count, bytes] = [0, 0]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    if (name.startsWith(':')) continue
    count++
    bytes += name.length + value.length + 4
  }
  return count > maxHeaders || bytes > maxHeaderBytes
}

/** HTTP/1.1 requires exactly one `Host`. In HTTP/2 it is optional, but must match `:authority` (RFC 9113, section 8.3.1). */
function checkHost({ httpVersion, headers: { host, ':authority': authority } }: IncomingMessage) {
  if (httpVersion === '1.1' && !host)
    return new ApiError('malformed_request', 'The `Host` header is missing.', closeConnection)
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== String(authority).toLowerCase())
    return new ApiError('malformed_request', 'The `Host` header must match `:authority`.')
  return
}

/** Headers that can't be sent twice, because a proxy and Tillbridge could use different ones. */
const singleHeaders = new Set([
  'authorization',
  'x-service-name',
  'idempotency-key',
  'x-voucher-pin',
  'x-shopper-ip',
  'content-type',
  'host',
])

function checkSingleHeaders({ rawHeaders }: IncomingMessage) {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!singleHeaders.has(name)) continue
    if (seen.has(name))
      return new ApiError(
        'duplicate_header',
        `The header \`${name}\` can't be sent twice.`,
        name === 'host' ? closeConnection : {},
      )
    seen.add(name)
  }
  return
}
