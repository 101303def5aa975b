import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'

/** Methods that callers send by mistake. They are rejected by routes of their own, so that metrics and logs name the path. */
const commonMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

// The path is not repeated: it can contain a secret that was sent to the wrong address.
const unknownPath = 'Path not found. The API reference at /docs/api lists all paths.'

/**
 * Rejects unsupported methods of known paths with 405 and `Allow`. Returns a function for requests without a route.
 * It throws 405 for a rare method of a known path, otherwise 404. Rare methods have no routes: with all
 * thirty methods at each path, starting takes a tenth longer.
 */
export function rejectOtherMethods(
  server: FastifyInstance,
  routes: ReadonlyMap<string, readonly string[]>,
  countRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
) {
  const methodNotAllowed = (allowed: readonly string[]) =>
    new ApiError(
      'method_not_allowed',
      `This path doesn't support this method; use ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}.`,
      {
        headers: { allow: allowed.join(', ') },
      },
    )
  const paths = [...routes].map(([url, allowed]) => ({ url, allowed, pattern: buildPattern(url) }))
  // More specific paths match first.
  paths.sort((a, b) => countWildcards(a.url) - countWildcards(b.url))
  for (const { url, allowed } of paths) {
    const reject = async (request: FastifyRequest, reply: FastifyReply) => {
      await countRequest(request, reply)
      throw methodNotAllowed(allowed)
    }
    // In `onRequest`, so that the body is not read.
    const method = commonMethods.filter(commonMethod => !allowed.includes(commonMethod))
    server.route({ method, url, onRequest: reject, handler: reject })
  }
  return async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    const { method, url } = request
    await countRequest(request, reply)
    const path = parsePath(url)
    const match = commonMethods.includes(method) ? undefined : paths.find(({ pattern }) => pattern.test(path))
    throw match ? methodNotAllowed(match.allowed) : new ApiError('not_found', unknownPath)
  }
}

const countWildcards = (url: string) => url.match(/[:*]/g)?.length ?? 0

/** Returns a pattern that matches the paths of a route such as `/orders/:id` or `/console/*`. */
const buildPattern = (url: string) =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace('*', '.*')}$`,
  )

/** Returns the path of a URL as the router reads it: unescaped, without a trailing slash. */
function parsePath(url: string) {
  const path = url.replace(/[?#].*$/s, '').replace(/(?<=.)\/$/, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
