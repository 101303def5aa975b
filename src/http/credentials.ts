import type { IncomingMessage } from 'node:http'
import { ApiError } from '../errors.ts'
import { hasControls } from './controls.ts'

const missing = () =>
  new ApiError('invalid_credentials', undefined, {
    headers: { 'www-authenticate': 'Basic realm="Tillbridge", charset="UTF-8"' },
  })

/** The same answer for an unknown user and for a wrong password. */
export const invalidCredentials = missing

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Username and password of an `Authorization: Basic` header (RFC 7617); strict where Node's decoder is lenient. */
export function basicCredentials(header: string | undefined): { username: string; password: string } {
  const [, token] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '') ?? []
  const bytes = Buffer.from(token ?? '', 'base64')
  if (!token || bytes.toString('base64') !== token) throw missing()
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw missing()
  }
  const colon = text.indexOf(':')
  if (colon < 1 || hasControls(text)) throw missing()
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Headers that may be sent once: of two, which one counts would depend on who reads them. */
const single = new Set(['authorization', 'x-service-name', 'idempotency-key', 'x-voucher-pin', 'content-type', 'host'])

/** Where one request may be two, or for somebody else, nothing more is read from the connection. */
const close = { headers: { connection: 'close' } }

/** HTTP/1.1 has exactly one Host; HTTP/2 may do without, but not with another one than its `:authority` (RFC 9113, section 8.3.1). */
export function requireHost({ httpVersion, headers }: IncomingMessage) {
  const { host, ':authority': authority } = headers
  if (httpVersion === '1.1' && !host) throw new ApiError('malformed_request', 'The header `host` is missing.', close)
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== String(authority).toLowerCase())
    throw new ApiError('malformed_request', 'The header `host` is not what `:authority` says.')
}

export function refuseRepeatedHeaders(rawHeaders: readonly string[]) {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!single.has(name)) continue
    if (seen.has(name))
      throw new ApiError('duplicate_header', `The header \`${name}\` was sent twice.`, name === 'host' ? close : {})
    seen.add(name)
  }
}
