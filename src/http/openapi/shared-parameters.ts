interface Parameter {
  $ref?: string
  name: string
  in: string
}

/** The operations of the paths, by path and method. */
type Paths = Record<string, Record<string, { parameters: object[] }>>

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
  const mapValues = <From, To>(record: Record<string, From>, map: (value: From) => To) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
  return {
    paths: mapValues(paths, methods =>
      mapValues(methods, operation => ({ ...operation, parameters: operation.parameters.map(refer) })),
    ),
    parameters: mapValues(Object.fromEntries([...shared].sort()), text => JSON.parse(text) as object),
  }
}

/** Returns the name of a component: `UpdatedAfter`, or `WebhookId` for the `id` of `/webhooks/{id}`. */
function toComponentName({ name, in: place }: Parameter, path: string) {
  const own = toPascalCase(name ?? '')
  if (place !== 'path') return own
  const [, collection = ''] = new RegExp(`([\\w-]+)/\\{${name}\\}`).exec(path) ?? []
  const singular = toPascalCase(collection).replace(/s$/, '')
  return singular === own ? own : singular + own
}

const toPascalCase = (name: string) => name.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase())
