/** A schema of the OpenAPI document. */
// biome-ignore lint/suspicious/noExplicitAny: the type of a document is too large to declare
export type Node = any

/** The direction of values. Values that are read can get new members of an enumeration, so their types stay open. */
export type Direction = 'sent' | 'read'

const primitive: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  timestamp: 'string | Date',
}

export const getRefName = ({ $ref }: Node): string => $ref.slice($ref.lastIndexOf('/') + 1)

export function renderType(schema: Node, direction: Direction, indent = ''): string {
  const { $ref, enum: words, const: word, anyOf, type, items, properties, additionalProperties } = schema
  if ($ref) return getRefName(schema)
  if (word !== undefined) return JSON.stringify(word).replaceAll('"', "'")
  if (words) {
    const union = words.map((literal: unknown) => (literal === null ? 'null' : `'${literal}'`)).join(' | ')
    return direction === 'read' ? `Open<${union}>` : union
  }
  if (anyOf) return [...new Set(anyOf.map((choice: Node) => renderType(choice, direction, indent)))].join(' | ')
  if (Array.isArray(type))
    return type.map(choice => renderType({ ...schema, type: choice }, direction, indent)).join(' | ')
  if (type === 'array') return renderArray(renderType(items, direction, indent))
  if (properties) return renderMembers(schema, direction, indent)
  if (type === 'object')
    return typeof additionalProperties === 'object'
      ? `Record<string, ${renderType(additionalProperties, direction, indent)}>`
      : 'Record<string, never>'
  return primitive[type] ?? 'unknown'
}

const renderArray = (type: string) => (/ \| /.test(type) ? `(${type})[]` : `${type}[]`)

/**
 * Returns the members of an object with their descriptions. Members that are sent can be undefined, which omits them.
 */
export function renderMembers({ properties, required = [] }: Node, direction: Direction, indent = ''): string {
  const lines = Object.entries<Node>(properties).map(([name, schema]) => {
    const needed = required.includes(name)
    const type = renderType(schema, direction, `${indent}  `)
    const mark = needed ? ':' : '?:'
    return `${renderDocstring(schema.description, `${indent}  `)}${indent}  ${name}${mark} ${type}${needed || direction === 'read' ? '' : ' | undefined'}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}

export const renderDocstring = (text: string | undefined, indent = '') =>
  text ? `${indent}/** ${text.replaceAll('*/', '* /')} */\n` : ''

/** Returns the names of the components that a schema needs, directly or indirectly. */
export function collectSchemas(schema: Node, components: Record<string, Node>, names = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const item of schema) collectSchemas(item, components, names)
  else if (schema && typeof schema === 'object') {
    const name = typeof schema.$ref === 'string' ? getRefName(schema) : undefined
    if (name !== undefined && !names.has(name)) {
      names.add(name)
      collectSchemas(components[name], components, names)
    }
    for (const [key, member] of Object.entries(schema))
      if (key !== 'examples') collectSchemas(member, components, names)
  }
  return names
}
