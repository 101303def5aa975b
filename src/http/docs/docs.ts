import { readFileSync } from 'node:fs'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'
import { asksForHtml } from '../negotiation/accept.ts'
import { instanceOf, namesTag, tagOf } from '../routing/operation.ts'
import { guards } from '../security-headers.ts'

/** The API reference at `/docs`: a page, what starts it, and the viewer, all from here. */
export function docsPages(server: FastifyInstance): void {
  server.get('/', (request, reply) => {
    if (asksForHtml(request.headers.accept)) return reply.redirect('/docs')
    throw new ApiError(
      'not_found',
      'Page not found. The API reference is at `/docs`, the OpenAPI document at `/openapi.json`.',
    )
  })
  server.get('/docs', { onRequest: withoutSlash }, (_, reply) =>
    reply.headers(guards).type('text/html; charset=utf-8').send(page),
  )
  server.get('/docs/start.js', (_, reply) => reply.type(javascript).send(start))
  server.get('/docs/icon.svg', (request, reply) => sendKept(request, reply, icon))
  server.get('/docs/viewer.js', async (request, reply) => sendKept(request, reply, await viewer()))
}

/** Links of our pages are relative: behind a slash they would lead elsewhere. */
export async function withoutSlash(request: FastifyRequest, reply: FastifyReply) {
  if (/^[^?]*\/(\?|$)/.test(request.url)) return reply.redirect(instanceOf(request), 308)
}

const fileOf = (name: string) => readFileSync(new URL(name, import.meta.url))
const [page, start] = [fileOf('page.html'), fileOf('start.js')]

const javascript = 'text/javascript; charset=utf-8'
const keep = { 'cache-control': 'public, max-age=3600' }

interface Kept {
  type: string
  bytes: Buffer
  tag: string
}

const keptOf = (type: string, bytes: Buffer): Kept => ({ type, bytes, tag: tagOf(bytes) })

const icon = keptOf('image/svg+xml', fileOf('icon.svg'))

let loaded: Promise<Kept> | undefined

/** Scalar's bundle for browsers, read when the first reader comes: it is large, and most processes never need it. */
function viewer(): Promise<Kept> {
  loaded ??= readViewer().catch(error => {
    loaded = undefined
    throw error
  })
  return loaded
}

// The package keeps its bundle to itself and hands it out only as a route: a server that never listens asks for it.
async function readViewer(): Promise<Kept> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const donor = Fastify()
  try {
    await donor.register(scalar, { routePrefix: '/scalar', configuration: { url: '/openapi.json' } })
    const { statusCode, rawPayload: bytes } = await donor.inject('/scalar/js/scalar.js')
    if (statusCode !== 200) throw new Error(`the viewer's bundle is not where it was: ${statusCode}`)
    return keptOf(javascript, bytes)
  } finally {
    await donor.close()
  }
}

function sendKept(request: FastifyRequest, reply: FastifyReply, { type, bytes, tag }: Kept) {
  reply.headers({ ...keep, etag: tag })
  if (namesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(type).send(bytes)
}
