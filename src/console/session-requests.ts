import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SignedIn } from '../auth/sessions.ts'
import { defaultSettings } from '../domain/tenancy/service-settings.ts'
import { requireSameOrigin } from '../http/admission/credentials.ts'
import { requireJsonBody } from '../http/body/body.ts'
import { json } from '../http/routing/operation.ts'
import type { TSchema } from '../schemas/schemas.ts'

/** The schemas of sign-in don't depend on a service, because none is selected yet. */
export const noService = { id: 0, name: '', settings: defaultSettings }

/** Rejects a request of another origin, or without a JSON body. */
export function checkRequest(request: FastifyRequest, schema: TSchema) {
  requireSameOrigin(request)
  requireJsonBody(request, schema)
}

/** Sends the user and the services of a session. */
export function sendSignedIn(reply: FastifyReply, { username, assignments }: Omit<SignedIn, 'isPerson'>) {
  const services = [...assignments]
    .map(([name, { role, service }]) => ({
      name,
      role,
      timeZone: service.settings.timeZone,
      retailerName: service.settings.retailerName,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return reply.type(json).send(JSON.stringify({ data: { username, services } }))
}
