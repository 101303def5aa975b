import type { FastifyRequest } from 'fastify'
import { hasControls } from '../../domain/values/characters.ts'
import { ApiError } from '../../errors/api-error.ts'

/** Where programs are to say who they are. */
export const basicChallenge = { 'www-authenticate': 'Basic realm="Tillbridge", charset="UTF-8"' }
/** The same answer for none, for an unknown user and for a wrong password. */
export const invalidCredentials = (challenge: Record<string, string>) =>
  new ApiError('invalid_credentials', undefined, { headers: challenge })

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Username and password of an `Authorization: Basic` header (RFC 7617); strict where Node's decoder is lenient. */
export function basicCredentials(header: string | undefined): { username: string; password: string } {
  const [, token] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '') ?? []
  const bytes = Buffer.from(token ?? '', 'base64')
  if (!token || bytes.toString('base64') !== token) throw invalidCredentials(basicChallenge)
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw invalidCredentials(basicChallenge)
  }
  const colon = text.indexOf(':')
  if (colon < 1 || hasControls(text)) throw invalidCredentials(basicChallenge)
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

// Until the browser is closed: that a session has ended is for the server to say. A cookie that went before the page would have the
// browser ask for a password by a window of its own.
const cookieName = '__Host-tillbridge'
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** The cookie that a session's token is kept in (RFC 6265bis: of this host and of HTTPS alone, out of reach of scripts and other sites). */
export const sessionCookie = (token: string) => `${cookieName}=${token}; ${attributes}`
export const endedCookie = `${cookieName}=; ${attributes}; Max-Age=0`

/** The token of the session that a request comes with. */
export function sessionToken({ headers: { cookie = '' } }: FastifyRequest): string | undefined {
  for (const part of cookie.split(';')) {
    const [key, value] = part.trim().split('=', 2)
    if (key === cookieName && value) return value
  }
  return
}

/** Where to sign in, for a page: at `Basic` a browser would show a window of its own. */
export const challenge = { 'www-authenticate': 'Session realm="Tillbridge"' }
export const sessionEnded = () => new ApiError('session_ended', undefined, { headers: challenge })

/** Whether a script of one of our own pages asks: then no browser is to be told of `Basic`, for which it would show a window. */
export const isFromOwnPage = ({ headers }: FastifyRequest) =>
  headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-dest'] === 'empty'

/** Refuses a write that a page of another origin has the browser send along with the cookie. */
export function requireOwnPage({ method, headers }: FastifyRequest) {
  if (method === 'GET' || method === 'HEAD') return
  const site = headers['sec-fetch-site']
  const host = headers[':authority'] ?? headers.host
  const own = site === undefined ? headers.origin === `https://${host}` : site === 'same-origin'
  if (!own) throw new ApiError('cross_origin_request')
}
