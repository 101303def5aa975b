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
