import type { FastifyInstance } from 'fastify'
import { acceptCode, confirmEnrolment, countCode, startEnrolment } from '../auth/second-factor.ts'
import { ApiError } from '../errors/api-error.ts'
import { authenticateSession, secondFactorRequired, tooManyFailures } from '../http/admission/admit.ts'
import { sessionChallenge } from '../http/admission/credentials.ts'
import type { AppContext } from '../http/app-context.ts'
import { EmptyBody, readBody } from '../http/body/body.ts'
import { json } from '../http/routing/operation.ts'
import { Type } from '../schemas/schemas.ts'
import { hasSecondFactor } from '../store/accounts/second-factors.ts'
import { addAuditEntry } from '../store/audit/audit.ts'
import { checkRequest, noService } from './session-requests.ts'

const path = '/console/session/second-factor'

const Confirmation = Type.Object(
  {
    enrolment: Type.String({ description: 'The value of the first step.', minLength: 1, maxLength: 500 }),
    code: Type.String({ description: 'The first code of the app.', minLength: 1, maxLength: 20 }),
  },
  { additionalProperties: false },
)

/** Registers the enrolment of a second factor by the account that is signed in. */
export function registerSecondFactor(server: FastifyInstance, app: AppContext): void {
  server.post(
    `${path}/start`,
    { onRequest: async request => checkRequest(request, EmptyBody) },
    async (request, reply) => {
      await readBody({ body: EmptyBody, keepsEmptyTexts: true }, request, noService)
      const { username, isPerson } = await authenticateSession(app, request)
      if (isPerson) throw new ApiError('account_managed_by_provider')
      return reply.type(json).send(JSON.stringify({ data: await startEnrolment(app.keys, username) }))
    },
  )
  server.post(path, { onRequest: async request => checkRequest(request, Confirmation) }, async (request, reply) => {
    const confirmation = await readBody({ body: Confirmation, keepsEmptyTexts: true }, request, noService)
    const { username, assignments, isPerson } = await authenticateSession(app, request)
    if (isPerson) throw new ApiError('account_managed_by_provider')
    await limitCodes(app, username)
    const recoveryCodes = await app.db.transaction(async tx => {
      const codes = await confirmEnrolment(tx, app.keys, username, confirmation)
      if (codes)
        for (const { service } of assignments.values())
          await addAuditEntry(tx, service, {
            username,
            requestId: request.id,
            operation: `POST ${path}`,
            subject: `/accounts/${encodeURIComponent(username)}`,
            body: {},
          })
      return codes
    })
    if (!recoveryCodes)
      throw secondFactorRequired(
        sessionChallenge,
        'The code is wrong, or the account has a second factor. Check the time of your phone. An operator can remove the old one with `tillbridge account reset-second-factor`.',
      )
    return reply.type(json).send(JSON.stringify({ data: { recoveryCodes } }))
  })
}

/** Checks the code of an account with a second factor. Throws `second_factor_required` if it is absent or wrong, or `too_many_failures`. */
export async function requireCode(app: AppContext, username: string, code: string | undefined) {
  // Reads the database, because a cached account may lack the second factor for two seconds.
  if (!(await hasSecondFactor(app.db, username))) return
  if (code === undefined) throw secondFactorRequired(sessionChallenge)
  await limitCodes(app, username)
  if (!(await app.db.transaction(tx => acceptCode(tx, app.keys, username, code))))
    throw secondFactorRequired(sessionChallenge, 'The code is wrong or was already used. Wait for the next code.')
}

async function limitCodes({ db, keys }: AppContext, username: string) {
  const tooMany = await countCode(db, keys, username)
  if (tooMany) throw tooManyFailures(tooMany)
}
