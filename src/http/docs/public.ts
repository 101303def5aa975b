import type { FastifyInstance, FastifyReply } from 'fastify'
import { sql } from '../../database/db.ts'
import { type ErrorCode, errorCodes, notFound } from '../../errors/api-error.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import type { Gate } from '../admission/admit.ts'
import { openApiDocument } from '../openapi/openapi.ts'
import type { Operation } from '../routing/operation.ts'
import { changelog } from './changelog.ts'
import { docsPages, withoutSlash } from './docs.ts'
import { errorPage } from './error-page.ts'

interface Public {
  gate: Gate
  publicUrl: () => string
  ready: () => boolean
}

/** What anyone may see: nothing here is secret, or belongs to a service (contract 9). */
export function publicPages(
  server: FastifyInstance,
  operations: readonly Operation[],
  { gate, publicUrl, ready }: Public,
) {
  const text = (reply: FastifyReply, written: string) => reply.type('application/json; charset=utf-8').send(written)
  const json = (reply: FastifyReply, value: unknown) => text(reply, JSON.stringify(value))

  server.get('/health/live', (_, reply) => json(reply, { data: { status: 'live' } }))

  server.get('/health/ready', async (_, reply) => {
    const database = ready() && (await ignoreError(gate.db.row(sql`select 1 as answer`), 'health check failed'))
    if (!database) return json(reply.code(503).header('retry-after', '2'), { data: { status: 'not ready' } })
    return json(reply, { data: { status: 'ready' } })
  })

  // It takes some milliseconds to make, and anyone may ask for it.
  const documents = new Map<string, string>()
  server.get('/openapi.json', (_, reply) => {
    const url = publicUrl()
    const document = documents.get(url) ?? JSON.stringify(openApiDocument(operations, url))
    documents.set(url, document)
    return text(reply, document)
  })

  server.get('/changelog', (_, reply) => json(reply, { data: changelog }))

  server.get<{ Params: { code: string } }>('/errors/:code', { onRequest: withoutSlash }, (request, reply) => {
    const { code } = request.params
    if (!Object.hasOwn(errorCodes, code)) throw notFound('error')
    return reply.type('text/html; charset=utf-8').send(errorPage(code as ErrorCode))
  })

  docsPages(server)
}
