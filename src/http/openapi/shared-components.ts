import { type ErrorCode, errorCodes } from '../../errors/api-error.ts'
import type { Schema } from './schema.ts'

// Moves what several operations or schemas repeat into components, and refers to it.

interface Parameter {
  $ref?: string
  name: string
  in: string
}

interface SharingOperation {
  parameters: object[]
  responses: Record<string, object>
  'x-error-codes'?: readonly ErrorCode[]
}

/** The operations of the paths, by path and method. */
type Paths = Record<string, Record<string, SharingOperation>>

/** Returns a record with the same keys, and with mapped values. */
export const mapValues = <From, To>(record: Record<string, From>, map: (value: From) => To) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))

/** Moves each parameter that several operations have into a component, and refers to it. */
export function shareParameters(paths: Paths) {
  const uses = new Map<string, { name: string; count: number }>()
  for (const [path, methods] of Object.entries(paths))
    for (const { parameters } of Object.values(methods))
      for (const parameter of parameters) {
        const text = JSON.stringify(parameter)
        const { name, count } = uses.get(text) ?? { name: toComponentName(parameter as Parameter, path), count: 0 }
        uses.set(text, { name, count: count + 1 })
      }

  // The most frequent parameter gets the name. Others of the same name stay in their operations.
  const shared = new Map<string, string>()
  for (const [text, { name, count }] of [...uses].sort(([, a], [, b]) => b.count - a.count))
    if (count > 1 && !('$ref' in JSON.parse(text)) && !shared.has(name)) shared.set(name, text)

  const names = new Map([...shared].map(([name, text]) => [text, name]))
  const refer = (parameter: object) => {
    const name = names.get(JSON.stringify(parameter))
    return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
  }
  return {
    paths: mapValues(paths, methods =>
      mapValues(methods, operation => ({ ...operation, parameters: operation.parameters.map(refer) })),
    ),
    parameters: mapValues(Object.fromEntries([...shared].sort()), text => JSON.parse(text) as object),
  }
}

/** Returns the name of a component: `UpdatedAfter`, `WebhookId` for the `id` of `/webhooks/{id}`, or `SyncName` for `/syncs/{sync}`. */
function toComponentName({ name, in: place }: Parameter, path: string) {
  const baseName = toPascalCase(name ?? '')
  if (place !== 'path') return baseName
  const [, collection = ''] = new RegExp(`([\\w-]+)/\\{${name}\\}`).exec(path) ?? []
  const singular = toPascalCase(collection).replace(/s$/, '')
  return singular + (singular === baseName ? 'Name' : baseName)
}

/** Moves each error response that several operations have into a component. Its name lists its codes: `SkuTakenOrMappingChanged`. */
export function shareResponses(paths: Paths) {
  const inlineResponses = Object.values(paths)
    .flatMap(methods => Object.values(methods))
    .flatMap(({ responses, 'x-error-codes': codes = [] }) =>
      Object.entries(responses).map(([status, response]) => ({
        text: JSON.stringify(response),
        name: codes
          .flatMap(code => (String(errorCodes[code].status) === status ? [toPascalCase(code)] : []))
          .join('Or'),
      })),
    )
    .filter(({ name, text }) => name && !('$ref' in JSON.parse(text)))
  const shared = new Map(
    [...Map.groupBy(inlineResponses, ({ text }) => text)].flatMap(([text, [first, ...others]]) =>
      first && others.length ? [[text, first.name] as const] : [],
    ),
  )
  const refer = (response: object) => {
    const name = shared.get(JSON.stringify(response))
    return name === undefined ? response : { $ref: `#/components/responses/${name}` }
  }
  return {
    paths: mapValues(paths, methods =>
      mapValues(methods, operation => ({ ...operation, responses: mapValues(operation.responses, refer) })),
    ),
    responses: Object.fromEntries([...shared].map(([text, name]) => [name, JSON.parse(text) as object])),
  }
}

/** The minimum length of the JSON that a schema must share with another one to extend it. A reference is shorter. */
const minSharedLength = 200

/**
 * Makes a response schema extend the largest other one whose properties it repeats: `IssuedWebhook` is a `Webhook` with a secret. Schemas of
 * requests stay as they are, because they reject unknown properties.
 */
export function extendSchemas(schemas: Record<string, Schema>): Record<string, Schema> {
  const texts = mapValues(schemas, ({ properties = {} }) => mapValues(properties, property => JSON.stringify(property)))
  const getTexts = (name: string) => texts[name] ?? {}
  const isExtensible = ({ type, properties, additionalProperties }: Schema) =>
    type === 'object' && properties !== undefined && additionalProperties === undefined
  const candidates = Object.entries(schemas)
    .filter(([, schema]) => isExtensible(schema))
    .map(([name, { required = [] }]) => ({ name, required, length: JSON.stringify(getTexts(name)).length }))
    .filter(({ length }) => length >= minSharedLength)
    .sort((a, b) => b.length - a.length)

  const findBase = (name: string, { required = [] }: Schema) => {
    const ownTexts = getTexts(name)
    return candidates.find(base => {
      const shared = Object.entries(getTexts(base.name))
      return (
        shared.length < Object.keys(ownTexts).length &&
        shared.every(([property, text]) => ownTexts[property] === text) &&
        base.required.every(property => required.includes(property))
      )
    })
  }
  const extend = (name: string, schema: Schema): Schema => {
    const base = isExtensible(schema) ? findBase(name, schema) : undefined
    if (!base) return schema
    const { type, properties = {}, required = [], ...keywords } = schema
    const isOwn = (property: string) => !Object.hasOwn(getTexts(base.name), property)
    const added = required.filter(property => !base.required.includes(property))
    return {
      ...keywords,
      allOf: [
        { $ref: `#/components/schemas/${base.name}` },
        {
          type: 'object',
          ...(added.length && { required: added }),
          properties: Object.fromEntries(Object.entries(properties).filter(([property]) => isOwn(property))),
        },
      ],
    }
  }
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, extend(name, schema)]))
}

const toPascalCase = (name: string) => name.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase())
