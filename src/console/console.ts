import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { authenticatePassword, authenticateSession, tooManyFailures } from '../http/admission/admit.ts'
import { getClientAddress } from '../http/admission/client-address.ts'
import {
  expiredCookie,
  formatSessionCookie,
  invalidCredentials,
  readSessionToken,
  requireSameOrigin,
  sessionChallenge,
} from '../http/admission/credentials.ts'
import type { AppContext } from '../http/app-context.ts'
import { readBody } from '../http/body/body.ts'
import { sendCompressedFile } from '../http/docs/compressed-file.ts'
import { redirectTrailingSlash } from '../http/docs/docs.ts'
import { json } from '../http/routing/operation.ts'
import { pageSecurityHeaders } from '../http/security-headers.ts'
import { Type } from '../schemas/schemas.ts'
import { findAsset, getPage } from './assets.ts'
import { findSignOutUrl, registerProviderSignIn } from './identity-provider.ts'
import { registerSecondFactor, requireCode } from './second-factor.ts'
import { checkRequest, noService, sendSignedIn } from './session-requests.ts'

const Text = (description: string) => Type.String({ description, minLength: 1, maxLength: 250 })
const Password = Type.Object(
  {
    username: Text('The account.'),
    password: Text('One of its passwords.'),
    code: Type.Optional(Text('A code of its second factor, or a recovery code.')),
  },
  { additionalProperties: false },
)
const Link = Type.Object({ link: Text('The token after `#link=` in the link.') }, { additionalProperties: false })

const consoleHeaders = { ...pageSecurityHeaders, 'cross-origin-opener-policy': 'same-origin' }

/** Registers the console at `/console`: its page, its files and its sessions. Its data comes from the API. */
export function registerConsole(server: FastifyInstance, app: AppContext): void {
  server.get('/console', { onRequest: redirectTrailingSlash }, async ({ headers }, reply) =>
    reply
      .headers({ ...consoleHeaders, vary: 'accept-language' })
      .type('text/html; charset=utf-8')
      .send(await getPage(app.identityProvider?.name, headers['accept-language'])),
  )
  registerSecondFactor(server, app)
  if (app.identityProvider) registerProviderSignIn(server, app, app.identityProvider)
  server.get<{ Params: { digest: string; '*': string } }>('/console/:digest/*', async (request, reply) => {
    const { digest, '*': path } = request.params
    const asset = await findAsset(`${digest}/${path}`)
    if (!asset) throw new ApiError('not_found')
    // The path contains a digest of the content, so it can be cached forever.
    reply.header('cache-control', 'public, max-age=31536000, immutable')
    return sendCompressedFile(request, reply, asset)
  })

  server.get('/console/session', async (request, reply) => {
    if (readSessionToken(request) === undefined) return reply.type(json).send('{"data":null}')
    return sendSignedIn(reply, await authenticateSession(app, request))
  })
  server.post(
    '/console/session',
    { onRequest: async request => checkRequest(request, Password) },
    async (request, reply) => {
      const { username, password, code } = await readBody({ body: Password, keepsEmptyTexts: true }, request, noService)
      const assignments = await authenticatePassword(app, request, username, password, sessionChallenge)
      await requireCode(app, username, code)
      const token = await app.sessions.open(username, password)
      if (token === undefined) throw invalidCredentials(sessionChallenge)
      return sendSignedIn(reply.header('set-cookie', formatSessionCookie(token)), { username, assignments })
    },
  )
  server.post(
    '/console/session/link',
    { onRequest: async request => checkRequest(request, Link) },
    async (request, reply) => {
      const { link } = await readBody({ body: Link, keepsEmptyTexts: true }, request, noService)
      const token = await app.sessions.openByLink(link, getClientAddress(request))
      if (typeof token === 'object') throw tooManyFailures(token)
      const signedIn = token === undefined ? undefined : await app.sessions.read(token)
      if (token === undefined || !signedIn) {
        const detail = 'This link was already used or is older than 60 seconds. Run `tillbridge console` for a new one.'
        throw new ApiError('invalid_credentials', detail, { headers: sessionChallenge })
      }
      return sendSignedIn(reply.header('set-cookie', formatSessionCookie(token)), signedIn)
    },
  )
  server.delete('/console/session', async (request, reply) => {
    requireSameOrigin(request)
    const token = readSessionToken(request)
    const signedIn = token === undefined ? undefined : await app.sessions.read(token)
    if (token !== undefined) await app.sessions.end(token)
    const signOutUrl = signedIn?.isPerson ? await findSignOutUrl(app) : undefined
    const data = signOutUrl === undefined ? null : { signOutUrl }
    return reply.header('set-cookie', expiredCookie).type(json).send(JSON.stringify({ data }))
  })
}
