import { readFileSync } from 'node:fs'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'
import { acceptsHtml } from '../negotiation/accept.ts'
import { getRequestPath } from '../routing/operation.ts'
import { pageSecurityHeaders } from '../security-headers.ts'
import { type CompressedFile, sendCompressedFile, toCompressedFile } from './compressed-file.ts'

/** Registers the API reference at `/docs`: the page, its script and the viewer. All files are served by Tillbridge. */
export function registerDocsPages(server: FastifyInstance): void {
  server.get('/', (request, reply) => {
    if (acceptsHtml(request.headers.accept)) return reply.redirect('/docs')
    throw new ApiError(
      'not_found',
      'Page not found. The API reference is at `/docs`, the OpenAPI document at `/openapi.json`.',
    )
  })
  server.get('/docs', { onRequest: redirectTrailingSlash }, (_, reply) =>
    reply.headers(pageSecurityHeaders).type('text/html; charset=utf-8').send(page),
  )
  server.get('/docs/start.js', (_, reply) => reply.type(javascript).send(start))
  server.get('/docs/icon.svg', (request, reply) => sendCachedFile(request, reply, icon))
  server.get('/docs/viewer.js', async (request, reply) => sendCachedFile(request, reply, await viewer()))
}

/** Redirects a path with a trailing slash. The pages have relative links, which would break below it. */
export async function redirectTrailingSlash(request: FastifyRequest, reply: FastifyReply) {
  if (/^[^?]*\/(\?|$)/.test(request.url)) return reply.redirect(getRequestPath(request), 308)
}

const readAsset = (name: string) => readFileSync(new URL(name, import.meta.url))
const [page, start] = [readAsset('page.html'), readAsset('start.js')]

const javascript = 'text/javascript; charset=utf-8'
const cacheHeaders = { 'cache-control': 'public, max-age=3600' }

const icon = toCompressedFile('image/svg+xml', readAsset('icon.svg'))

let loaded: Promise<CompressedFile> | undefined

/** Returns Scalar's bundle for browsers. Loaded on first use: it is large, and most processes never need it. */
function viewer(): Promise<CompressedFile> {
  loaded ??= readViewer().catch(error => {
    loaded = undefined
    throw error
  })
  return loaded
}

// The package offers its bundle only as a route, so a server that never listens requests it.
async function readViewer(): Promise<CompressedFile> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const server = Fastify()
  try {
    await server.register(scalar, { routePrefix: '/scalar', configuration: { url: '/openapi.json' } })
    const { statusCode, rawPayload: bytes } = await server.inject('/scalar/js/scalar.js')
    if (statusCode !== 200) throw new Error(`the package returned ${statusCode} for the bundle of the viewer`)
    return toCompressedFile(javascript, bytes)
  } finally {
    await server.close()
  }
}

const sendCachedFile = (request: FastifyRequest, reply: FastifyReply, file: CompressedFile) =>
  sendCompressedFile(request, reply.headers(cacheHeaders), file)
