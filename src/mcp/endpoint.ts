import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { inject } from 'light-my-request'
import { memoize } from '../concurrency/ttl-cache.ts'
import { pause } from '../concurrency/turns.ts'
import { admit } from '../http/admission/admit.ts'
import { basicChallenge, invalidCredentials, requireSameOrigin } from '../http/admission/credentials.ts'
import type { AppContext } from '../http/app-context.ts'
import type { Operation } from '../http/routing/operation.ts'
import type { Send } from './operations.ts'

/**
 * The SDK is loaded on first use, because most processes serve no agents. It imports Zod, which is therefore loaded before it in two pieces:
 * loading everything at once would delay other requests for 0.2 s.
 */
const loadSdk = memoize(async () => {
  await pause()
  await import('zod/v4/locales')
  await pause()
  await import('zod/v4')
  await pause()
  const { createMcpHandler } = await import('@modelcontextprotocol/server')
  await pause()
  const { createToolServer } = await import('./tool-server.ts')
  await pause()
  return { createMcpHandler, createToolServer }
})

/** Tools have short arguments. The SDK validates larger messages so slowly that they would block other requests. */
const maxMessageBytes = 32 * 1024

/** Serves the Model Context Protocol at `POST /mcp` (streamable HTTP, without sessions). */
export function registerMcp(server: FastifyInstance, app: AppContext, operations: readonly Operation[]) {
  server.post(
    '/mcp',
    {
      bodyLimit: maxMessageBytes,
      async onRequest(request, reply) {
        // Without sessions of the console, no page of another site can act for the user.
        if (request.headers.authorization === undefined) throw invalidCredentials(basicChallenge)
        if (request.headers.origin !== undefined) requireSameOrigin(request)
        await admit(app, request, reply, {
          operation: { role: 'visitor', scope: 'any', storeSource: 'free' },
          policy: 'read',
          media: ['json', 'events'],
        })
      },
    },
    async (request, reply) => {
      const { createMcpHandler, createToolServer } = await loadSdk()
      const { assignment, username = '' } = request
      if (!assignment) throw new Error('the request was not admitted: it has no assignment')
      const { service, role, apiKey } = assignment
      const handler = createMcpHandler(
        () =>
          createToolServer({
            operations,
            role,
            apiKey,
            caller: [String(service.id), username],
            key: app.keys.subjects,
            send: createSend(server, request),
            agent: request.headers['user-agent'],
          }),
        { maxSubscriptions: 0 },
      )
      return sendResponse(reply, await handler.fetch(toWebRequest(request)))
    },
  )
}

/** Headers that the requests of tools share with the request of the agent. */
const forwardedHeaders = ['authorization', 'x-service-name', 'host', 'traceparent']

/** Returns a function that sends requests to the routes of this server, without a connection. Admission and rate limits apply to each. */
function createSend(server: FastifyInstance, request: FastifyRequest): Send {
  const { headers, id, ip } = request
  const forwarded = Object.fromEntries(
    forwardedHeaders.flatMap(name => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  )
  return async ({ method, url, headers: ownHeaders, body }) => {
    const response = await inject(
      (incoming, outgoing) => {
        // The request of the agent came over TLS.
        Object.assign(incoming.socket, { encrypted: true })
        server.routing(incoming as never, outgoing as never)
      },
      {
        method: method as 'GET',
        url,
        headers: { ...forwarded, accept: 'application/json', ...ownHeaders, 'x-request-id': id },
        remoteAddress: ip,
        ...(body !== undefined && { payload: body }),
      },
    )
    return { status: response.statusCode, text: response.body, etag: response.headers.etag }
  }
}

function toWebRequest({ headers, body }: FastifyRequest) {
  const names = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
  const own = names.flatMap((name): [string, string][] =>
    headers[name] === undefined ? [] : [[name, String(headers[name])]],
  )
  return new Request('https://localhost/mcp', { method: 'POST', headers: own, body: body as Buffer<ArrayBuffer> })
}

function sendResponse(reply: FastifyReply, response: Response) {
  reply.code(response.status)
  const type = response.headers.get('content-type')
  if (type) reply.type(type)
  return reply.send(response.body ? Readable.fromWeb(response.body as never) : '')
}
