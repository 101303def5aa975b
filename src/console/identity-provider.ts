import type { FastifyInstance, FastifyRequest } from 'fastify'
import { attemptSeconds, type IdentityProvider } from '../auth/identity-provider.ts'
import { signInPerson } from '../auth/person-sign-in.ts'
import { signInFailed } from '../auth/provider-failures.ts'
import { countAddressFailure } from '../auth/sessions.ts'
import { ApiError } from '../errors/api-error.ts'
import { tooManyFailures } from '../http/admission/admit.ts'
import { getClientAddress } from '../http/admission/client-address.ts'
import {
  expiredAttemptCookie,
  formatAttemptCookie,
  formatSessionCookie,
  readAttempt,
} from '../http/admission/credentials.ts'
import type { AppContext } from '../http/app-context.ts'
import { EmptyBody, readBody } from '../http/body/body.ts'
import { getLogFields } from '../http/observability/access-log.ts'
import { json } from '../http/routing/operation.ts'
import { Type } from '../schemas/schemas.ts'
import { ignoreError } from '../telemetry/ignored-errors.ts'
import { checkRequest, noService, sendSignedIn } from './session-requests.ts'

const Response = Type.Object(
  {
    response: Type.String({
      description: 'The query string with which the identity provider redirected the browser to the console.',
      minLength: 1,
      maxLength: 8_000,
    }),
  },
  { additionalProperties: false },
)

/**
 * Registers the sign-in with the identity provider. The provider redirects the browser to `/console`, whose script sends the response here.
 * So both requests come from our own page, and the cookies can be `SameSite=Strict`.
 */
export function registerProviderSignIn(server: FastifyInstance, app: AppContext, provider: IdentityProvider): void {
  server.post(
    '/console/session/provider/start',
    { onRequest: async request => checkRequest(request, EmptyBody) },
    async (request, reply) => {
      await readBody({ body: EmptyBody, keepsEmptyTexts: true }, request, noService)
      const { url, attempt } = await logFailure(request, provider.start())
      return reply
        .header('set-cookie', formatAttemptCookie(attempt, attemptSeconds))
        .type(json)
        .send(JSON.stringify({ data: { url } }))
    },
  )
  server.post(
    '/console/session/provider',
    { onRequest: async request => checkRequest(request, Response) },
    async (request, reply) => {
      const { response } = await readBody({ body: Response, keepsEmptyTexts: true }, request, noService)
      const signIn = async () => {
        const person = await provider.identify(readAttempt(request), response)
        return signInPerson(app.db, person, provider.mapping, request.id)
      }
      const username = await logFailure(request, signIn()).catch(async error => {
        if (error.code !== 'sign_in_failed') throw error
        const tooMany = await countAddressFailure(app.db, app.keys, getClientAddress(request))
        throw tooMany ? tooManyFailures(tooMany) : error
      })
      const token = await app.sessions.openForPerson(username)
      const signedIn = token === undefined ? undefined : await app.sessions.read(token)
      if (token === undefined || !signedIn)
        throw signInFailed('The account was revoked at the same time. Sign in again.')
      request.username = username
      return sendSignedIn(reply.header('set-cookie', [expiredAttemptCookie, formatSessionCookie(token)]), signedIn)
    },
  )
}

/** Returns the page that ends the person's session at the identity provider. Returns undefined if the provider has no such page, or is unreachable. */
export const findSignOutUrl = async ({ identityProvider }: Pick<AppContext, 'identityProvider'>) =>
  identityProvider && ignoreError(identityProvider.findSignOutUrl(), 'the console session has ended already')

/** Logs why a sign-in failed. The log entry has no token. */
const logFailure = <T>(request: FastifyRequest, signIn: Promise<T>): Promise<T> =>
  signIn.catch((error: unknown) => {
    if (error instanceof ApiError)
      request.log.warn(
        {
          ...getLogFields(request),
          'error.type': error.code,
          detail: error.message,
          reason: error.cause instanceof Error ? error.cause.message : undefined,
        },
        'sign-in with the identity provider failed',
      )
    throw error
  })
