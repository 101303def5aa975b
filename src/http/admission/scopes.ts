/** Requirements of operations on API keys, derived from the route definitions: their scopes, and where requests name their stores. */
import type { RequiredScope, StoreSource } from '../../domain/api-keys.ts'
import type { TObject, TSchema } from '../../schemas/schemas.ts'
import type { Policy } from '../limits/rate-limit.ts'

interface TaggedOptions {
  tag: string
  keys?: 'any' | 'none'
}

interface OperationParts {
  tag: string
  scope: RequiredScope
  params: object
  query: TObject
  body?: TSchema | undefined
}

const toGroup = (tag: string) => tag.toLowerCase().replaceAll(' ', '-')

/** Returns the scope of an operation: `orders:write`. */
export const toScope = ({ tag, keys }: TaggedOptions, policy: Policy): RequiredScope =>
  keys ?? `${toGroup(tag)}:${policy}`

export const listScopes = (routes: readonly { operation: Pick<OperationParts, 'scope'> }[]) =>
  [...new Set(routes.map(({ operation }) => operation.scope))]
    .filter(scope => scope !== 'any' && scope !== 'none')
    .sort()

/** Tags whose records belong to no store. */
const tagsWithoutStores: ReadonlySet<string> = new Set(['Products', 'Payment gateways'])

export const storeParam = 'storeNumber'
export const storeFilter = 'store_number'
const storeFields = ['storeNumber', 'pickupStoreNumber']

/** Returns the part of an operation's requests that names their stores. */
export function toStoreSource({ tag, scope, params, query, body }: OperationParts): StoreSource {
  if (storeParam in params) return 'path'
  if (storeFilter in query.properties) return 'query'
  if (body && listBodyStores(body, undefined).length) return 'body'
  return scope === 'any' || tagsWithoutStores.has(tag) ? 'free' : 'none'
}

interface BodySchema {
  anyOf?: BodySchema[]
  properties?: Record<string, BodySchema>
  items?: BodySchema
}

/** Lists the stores that a body names: undefined for each place that can name a store and doesn't. */
export function listBodyStores(schema: TSchema, value: unknown): (string | undefined)[] {
  const { anyOf, properties = {}, items } = schema as BodySchema
  if (anyOf) return anyOf.flatMap(part => listBodyStores(part as TSchema, value))
  if (items) return (Array.isArray(value) ? value : [undefined]).flatMap(item => listBodyStores(items as TSchema, item))
  return Object.entries(properties).flatMap(([name, property]) => {
    const part = (value as Record<string, unknown> | null | undefined)?.[name]
    if (!storeFields.includes(name)) return listBodyStores(property as TSchema, part)
    return [typeof part === 'string' ? part : undefined]
  })
}
