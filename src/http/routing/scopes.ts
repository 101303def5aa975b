/** Scopes of API keys: the groups of operations, read and write apart, derived from the route definitions. */
import type { RequiredScope } from '../../domain/api-keys.ts'
import type { Policy } from '../limits/rate-limit.ts'
import type { RouteOptions, Tag } from './operation.ts'
import type { RouteDefinition } from './route-definitions.ts'

const toGroup = (tag: Tag) => tag.toLowerCase().replaceAll(' ', '-')

/** Returns the scope of an operation: `orders:write`. */
export const toScope = ({ tag, keys }: Pick<RouteOptions<never>, 'tag' | 'keys'>, policy: Policy): RequiredScope =>
  keys ?? `${toGroup(tag)}:${policy}`

/** Lists the scopes that the operations require. */
export const listScopes = (routes: readonly RouteDefinition[]) =>
  [...new Set(routes.map(({ operation }) => operation.scope))]
    .filter(scope => scope !== 'any' && scope !== 'none')
    .sort()
