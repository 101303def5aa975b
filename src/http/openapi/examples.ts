import type { Schema } from './schema.ts'

/** An example of the whole, put together from the examples of its parts. */
export function exampleOf(schema: Schema, components: Readonly<Record<string, Schema>>): unknown {
  const { $ref, examples, properties, required = [], items, anyOf } = schema
  const part = (of: Schema) => exampleOf(of, components)
  if (examples) return examples[0]
  if ($ref) return part(components[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {})
  if (anyOf?.[0]) return part(anyOf[0])
  if (items) return [part(items)]
  if (!properties) throw new Error(`There is no example for ${JSON.stringify(schema)}.`)
  // An optional list is there when there is something to warn of: not in the usual answer. What only answers have is in no request.
  const usual = Object.entries(properties).filter(
    ([name, of]) => required.includes(name) || (!of.items && of.readOnly !== true),
  )
  return Object.fromEntries(usual.map(([name, of]) => [name, part(of)]))
}
