import type { TSchema } from '../../schemas/schemas.ts'
import { createErrorWriter } from './errors.ts'
import type { Schema } from './schema.ts'
import { createSchemaWriter, type Use } from './schemas.ts'

export type Writer = ReturnType<typeof createDocumentWriter>

/** Creates a writer for operations. It collects the components that the operations refer to. `hasSamples` adds code samples and example errors. */
export function createDocumentWriter(publicUrl: string, hasSamples: boolean) {
  const { write, components } = createSchemaWriter()
  const errors = createErrorWriter(publicUrl, hasSamples)
  const buildContent = (type: string, source: TSchema) => ({ [type]: { schema: write(source) } })
  const buildJsonContent = (schema: TSchema) => buildContent('application/json', schema)
  /** Writes a request body. Its example leaves out fields that exclude each other, which the examples of the properties can't. */
  const buildBody = (source: TSchema, use: Use) => {
    const schema = write(source, use)
    const example = buildExample(schema, components)
    // A change of three fields says more than a change of all fields.
    const isChange = !resolve(schema, components).required?.length
    const shortExample = isChange ? Object.fromEntries(Object.entries(example as object).slice(0, 3)) : example
    return { 'application/json': { schema, example: shortExample } }
  }

  return { write, components, errors, content: buildContent, json: buildJsonContent, body: buildBody, hasSamples }
}

type Components = Readonly<Record<string, Schema>>

/** Returns the component that a schema refers to, or the schema itself. */
const resolve = (schema: Schema, components: Components) =>
  schema.$ref ? (components[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {}) : schema

/** Builds an example of a schema from the examples of its parts. */
function buildExample(schema: Schema, components: Components): unknown {
  const { $ref, examples, properties, required = [], items, anyOf } = schema
  const buildPart = (part: Schema) => buildExample(part, components)
  if (examples) return examples[0]
  if ($ref) return buildPart(resolve(schema, components))
  if (anyOf?.[0]) return buildPart(anyOf[0])
  if (items) return [buildPart(items)]
  if (!properties) throw new Error(`schema without an example: ${JSON.stringify(schema)}`)
  // Leave out optional lists, such as warnings, because usual responses don't have them, and read-only fields, because requests don't.
  const included = Object.entries(properties).filter(
    ([name, property]) => required.includes(name) || (!property.items && property.readOnly !== true),
  )
  return Object.fromEntries(included.map(([name, property]) => [name, buildPart(property)]))
}
