import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { memoize, ttlCache } from '../../concurrency/ttl-cache.ts'
import { ApiError } from '../../errors/api-error.ts'
import { acceptsHtml } from '../negotiation/accept.ts'
import { getRequestPath } from '../routing/operation.ts'
import { pageSecurityHeaders, referenceSecurityHeaders } from '../security-headers.ts'
import { type CompressedFile, sendCompressedFile, toCompressedFile } from './compressed-file.ts'
import { buildFullLlmsText, buildLlmsText, findSiteFile } from './site.ts'

/**
 * Registers the documentation at `/docs`, its texts for language models, and the API reference at `/docs/api`: the page, its script and
 * the viewer. All files are served by Tillbridge.
 */
export function registerDocsPages(server: FastifyInstance, publicUrl: () => string): void {
  server.get('/', (request, reply) => {
    if (acceptsHtml(request.headers.accept)) return reply.redirect('/docs')
    throw new ApiError(
      'not_found',
      'Page not found. The documentation is at `/docs`, the OpenAPI document at `/openapi.json`.',
    )
  })
  server.get('/docs', { onRequest: redirectTrailingSlash }, (request, reply) => sendSiteFile(request, reply, ''))
  server.get<{ Params: { '*': string } }>('/docs/*', { onRequest: redirectTrailingSlash }, (request, reply) =>
    sendSiteFile(request, reply, request.params['*']),
  )
  server.get('/docs/icon.svg', (request, reply) => sendCachedFile(request, reply, icon))
  server.get('/docs/api', (request, reply) =>
    sendCompressedFile(request, reply.headers(referenceSecurityHeaders), reference),
  )
  server.get('/docs/api/reference.js', (request, reply) => sendCompressedFile(request, reply, referenceScript))
  server.get('/docs/api/viewer.js', async (request, reply) => sendCachedFile(request, reply, await loadViewer()))

  for (const [path, build] of [
    ['/llms.txt', buildLlmsText],
    ['/llms-full.txt', buildFullLlmsText],
  ] as const) {
    const texts = ttlCache({
      load: async url => toCompressedFile('text/plain; charset=utf-8', Buffer.from(await build(url))),
    })
    server.get(path, async (request, reply) => sendCompressedFile(request, reply, await texts.get(publicUrl())))
  }
}

/** Sends a file of the site. Browsers reload pages and revalidate all other files, so that both are of the same release after an upgrade. */
async function sendSiteFile(request: FastifyRequest, reply: FastifyReply, path: string) {
  const file = await findSiteFile(path)
  if (!file) throw new ApiError('not_found', 'Page not found. `/docs` lists all pages.')
  reply.headers(file.type.startsWith('text/html') ? pageSecurityHeaders : { 'cache-control': 'public, max-age=0' })
  return sendCompressedFile(request, reply, file)
}

/** Redirects a path with a trailing slash to the path without the slash. With the slash, the relative links of a page would break. */
export async function redirectTrailingSlash(request: FastifyRequest, reply: FastifyReply) {
  if (/^[^?]*\/(\?|$)/.test(request.url)) return reply.redirect(getRequestPath(request), 308)
}

const readAsset = (name: string) => readFileSync(new URL(name, import.meta.url))

const javascript = 'text/javascript; charset=utf-8'
const cacheHeaders = { 'cache-control': 'public, max-age=3600' }

const icon = toCompressedFile('image/svg+xml', readAsset('icon.svg'))
const reference = toCompressedFile('text/html; charset=utf-8', readAsset('reference.html'))
const referenceScript = toCompressedFile(javascript, readAsset('reference.js'))

/** Returns Scalar's bundle for browsers. Loaded on first use, because most processes never need it. */
const loadViewer = memoize(async (): Promise<CompressedFile> => {
  const worker = new Worker(new URL('./viewer-worker.ts', import.meta.url), { name: 'viewer', execArgv: [], env: {} })
  try {
    const [bytes] = (await once(worker, 'message')) as [Uint8Array]
    return toCompressedFile(javascript, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  } finally {
    await worker.terminate()
  }
})

const sendCachedFile = (request: FastifyRequest, reply: FastifyReply, file: CompressedFile) =>
  sendCompressedFile(request, reply.headers(cacheHeaders), file)
