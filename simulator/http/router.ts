import { atLeast, type Feature, firstReleases } from '../world/release.ts'
import type { World } from '../world/world.ts'
import type { Answer } from './answers.ts'
import type { ApiRequest } from './request.ts'

export type Handler = (request: ApiRequest, world: World) => Answer

/** One call of the API. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Such as `/Persons/{id}`, case-insensitive. */
  path: string
  /** The feature whose release has added the call. */
  since?: Feature
  handle: Handler
}

const segments = (path: string) => path.split('/').filter(part => part !== '')

function parametersOf(pattern: string[], path: string[]): string[] | undefined {
  if (pattern.length !== path.length) return
  const parameters: string[] = []
  for (const [i, expected] of pattern.entries()) {
    const segment = path[i] ?? ''
    if (expected.startsWith('{')) parameters.push(segment)
    else if (expected.toLowerCase() !== segment.toLowerCase()) return
  }
  return parameters
}

/** Returns a function that finds the call of a request. It returns 404 for an unknown path and 405 for another method. */
export function router(routes: readonly Route[]) {
  const table = routes.map(route => ({ route, pattern: segments(route.path) }))
  return (method: string, path: string, release: string): { handle: Handler; parameters: string[] } | 404 | 405 => {
    const parts = segments(path)
    let hasPath = false
    for (const { route, pattern } of table) {
      const parameters = parametersOf(pattern, parts)
      if (!parameters || (route.since && !atLeast(release, firstReleases[route.since]))) continue
      if (route.method === method) return { handle: route.handle, parameters }
      hasPath = true
    }
    return hasPath ? 405 : 404
  }
}
