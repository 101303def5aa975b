import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'

/** Limits of contract 1.6. */
const mostHeaderBytes = 16 * 1024
const longestUrl = 8 * 1024
const mostHeaders = 100
/** What Node's parser takes, which counts the first line of a request as well. */
export const maxHeaderSize = mostHeaderBytes + longestUrl + 2 * 1024

/** What is wrong with a request, whatever its path: the first of it, in the order in which it is judged. */
export function unfit({ protocol, url, raw }: FastifyRequest): ApiError | undefined {
  if (protocol !== 'https') return new ApiError('https_required')
  if (url.length > longestUrl) return new ApiError('uri_too_long')
  if (areTooLarge(raw)) return new ApiError('headers_too_large')
  return wrongHost(raw) ?? repeatedHeader(raw)
}

/** Whether there are too many headers, or too much in them, as they are written over HTTP/1.1; what HTTP/2 calls `:path` and the like is no header. */
function areTooLarge({ rawHeaders }: IncomingMessage) {
  let [count, bytes] = [0, 0]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    if (name.startsWith(':')) continue
    count++
    bytes += name.length + value.length + 4
  }
  return count > mostHeaders || bytes > mostHeaderBytes
}

/** Where one request may be two, or for somebody else, nothing more is read from the connection. */
const close = { headers: { connection: 'close' } }

/** HTTP/1.1 has exactly one Host; HTTP/2 may do without, but not with another one than its `:authority` (RFC 9113, section 8.3.1). */
function wrongHost({ httpVersion, headers: { host, ':authority': authority } }: IncomingMessage) {
  if (httpVersion === '1.1' && !host) return new ApiError('malformed_request', 'The `Host` header is missing.', close)
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== String(authority).toLowerCase())
    return new ApiError('malformed_request', 'The `Host` header must match `:authority`.')
  return
}

/** Headers that may be sent once: of two, which one counts would depend on who reads them. */
const single = new Set([
  'authorization',
  'x-service-name',
  'idempotency-key',
  'x-voucher-pin',
  'x-shopper-ip',
  'content-type',
  'host',
])

function repeatedHeader({ rawHeaders }: IncomingMessage) {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!single.has(name)) continue
    if (seen.has(name))
      return new ApiError(
        'duplicate_header',
        `The header \`${name}\` can't be sent twice.`,
        name === 'host' ? close : {},
      )
    seen.add(name)
  }
  return
}
