import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'

/** What callers send by mistake: refused at routes of their own, so that figures and log name the path. */
const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * A known path answers 405 with `Allow` to methods that it does not know. Returns the refusal for a request without a route. Rare methods
 * have no routes of their own: a router with all thirty at each path costs a tenth of a start.
 */
export function refuseOtherMethods(server: FastifyInstance, routes: ReadonlyMap<string, readonly string[]>) {
  const refusal = (allowed: readonly string[]) =>
    new ApiError('method_not_allowed', undefined, { headers: { allow: allowed.join(', ') } })
  const known = [...routes].map(([url, allowed]) => ({ url, allowed, pattern: patternOf(url) }))
  // The more of a path is said, the sooner it counts.
  known.sort((a, b) => wildcards(a.url) - wildcards(b.url))
  for (const { url, allowed } of known) {
    const refuse = async () => {
      throw refusal(allowed)
    }
    // Before the body is read, like the 404: what it holds makes no difference.
    const method = usual.filter(each => !allowed.includes(each))
    server.route({ method, url, onRequest: refuse, handler: refuse })
  }
  return (method: string, url: string) => {
    const path = pathOf(url)
    const found = usual.includes(method) ? undefined : known.find(({ pattern }) => pattern.test(path))
    return found ? refusal(found.allowed) : new ApiError('not_found')
  }
}

const wildcards = (url: string) => url.match(/[:*]/g)?.length ?? 0

/** Whether a path is one of a route, such as `/orders/:id` or `/console/*`. */
const patternOf = (url: string) =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace('*', '.*')}$`,
  )

/** The path of a URL as the router reads it: unescaped, whether or not a slash ends it. */
function pathOf(url: string) {
  const path = url.replace(/[?#].*$/s, '').replace(/(?<=.)\/$/, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
