import type { FastifyRequest } from 'fastify'
import { hasControls } from '../../domain/values/characters.ts'
import { ApiError } from '../../errors/api-error.ts'

/** The challenge for programs. */
export const basicChallenge = { 'www-authenticate': 'Basic realm="Tillbridge", charset="UTF-8"' }
/** One error for missing credentials, an unknown user and a wrong password. */
export const invalidCredentials = (challenge: Record<string, string>) =>
  new ApiError('invalid_credentials', undefined, { headers: challenge })

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses an `Authorization: Basic` header (RFC 7617), strictly. Throws `invalid_credentials` if it is absent or malformed. */
export function parseBasicCredentials(header: string | undefined): { username: string; password: string } {
  const [, token] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '') ?? []
  const bytes = Buffer.from(token ?? '', 'base64')
  if (!token || bytes.toString('base64') !== token) throw invalidCredentials(basicChallenge)
  let userPass: string
  try {
    userPass = decoder.decode(bytes)
  } catch {
    throw invalidCredentials(basicChallenge)
  }
  const colon = userPass.indexOf(':')
  if (colon < 1 || hasControls(userPass)) throw invalidCredentials(basicChallenge)
  return { username: userPass.slice(0, colon), password: userPass.slice(colon + 1) }
}

// A cookie without an expiry date: the server ends sessions. If the cookie expired while the page is open, the browser would show its own
// password dialog.
const cookieName = '__Host-tillbridge'
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** Returns the session cookie (RFC 6265bis): for this host and HTTPS only, not readable by scripts, not sent by other sites. */
export const formatSessionCookie = (token: string) => `${cookieName}=${token}; ${attributes}`
export const expiredCookie = `${cookieName}=; ${attributes}; Max-Age=0`

// The cookie of a sign-in that the identity provider has yet to complete.
const attemptCookieName = '__Host-tillbridge-sign-in'

/** Returns the cookie that binds a sign-in with the identity provider to this browser. */
export const formatAttemptCookie = (attempt: string, seconds: number) =>
  `${attemptCookieName}=${attempt}; ${attributes}; Max-Age=${seconds}`
export const expiredAttemptCookie = `${attemptCookieName}=; ${attributes}; Max-Age=0`

/** Returns the session token of a request, or undefined. */
export const readSessionToken = (request: FastifyRequest) => readCookie(request, cookieName)

/** Returns the attempt to sign in with the identity provider, or undefined. */
export const readAttempt = (request: FastifyRequest) => readCookie(request, attemptCookieName)

function readCookie({ headers: { cookie = '' } }: FastifyRequest, name: string): string | undefined {
  for (const part of cookie.split(';')) {
    const [key, value] = part.trim().split('=', 2)
    if (key === name && value) return value
  }
  return
}

/** The challenge for the console. For `Basic`, the browser would show its own password dialog. */
export const sessionChallenge = { 'www-authenticate': 'Session realm="Tillbridge"' }
export const sessionEnded = () => new ApiError('session_ended', undefined, { headers: sessionChallenge })

/** True if a script of our own pages sent the request. It must not get a `Basic` challenge, for which the browser shows a dialog. */
export const isSameOriginScript = ({ headers }: FastifyRequest) =>
  headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-dest'] === 'empty'

/** Throws `cross_origin_request` if a page of another origin made the browser send a write with the cookie. */
export function requireSameOrigin({ method, headers }: FastifyRequest) {
  if (method === 'GET' || method === 'HEAD') return
  const fetchSite = headers['sec-fetch-site']
  const host = headers[':authority'] ?? headers.host
  const isSameOrigin = fetchSite === undefined ? headers.origin === `https://${host}` : fetchSite === 'same-origin'
  if (!isSameOrigin) throw new ApiError('cross_origin_request')
}
