import { type Feature, firstReleases, isAtLeast } from '../world/release.ts'
import type { World } from '../world/world.ts'
import type { ApiRequest } from './request.ts'
import type { ApiResponse } from './responses.ts'

export type Handler = (request: ApiRequest, world: World) => ApiResponse

/** One call of the API. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path, such as `/Persons/{id}`. It is case-insensitive. */
  path: string
  /** The feature whose release added the call. */
  since?: Feature
  handle: Handler
}

const splitPath = (path: string) => path.split('/').filter(part => part !== '')

function matchParameters(pattern: string[], path: string[]): string[] | undefined {
  if (pattern.length !== path.length) return
  const parameters: string[] = []
  for (const [i, expected] of pattern.entries()) {
    const segment = path[i] ?? ''
    if (expected.startsWith('{')) parameters.push(segment)
    else if (expected.toLowerCase() !== segment.toLowerCase()) return
  }
  return parameters
}

/** Creates a function that finds the call of a request. It returns 404 for an unknown path and 405 for an unknown method. */
export function createRouter(routes: readonly Route[]) {
  const table = routes.map(route => ({ route, pattern: splitPath(route.path) }))
  return (method: string, path: string, release: string): { handle: Handler; parameters: string[] } | 404 | 405 => {
    const parts = splitPath(path)
    let hasPath = false
    for (const { route, pattern } of table) {
      const parameters = matchParameters(pattern, parts)
      if (!parameters || (route.since && !isAtLeast(release, firstReleases[route.since]))) continue
      if (route.method === method) return { handle: route.handle, parameters }
      hasPath = true
    }
    return hasPath ? 405 : 404
  }
}
