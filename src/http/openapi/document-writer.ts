import type { TSchema } from '../../schemas/schemas.ts'
import { createErrorWriter } from './errors.ts'
import { buildExample } from './examples.ts'
import { schemaWriter, type Use } from './schemas.ts'

export type Writer = ReturnType<typeof createDocumentWriter>

/** Creates a writer for operations. It collects the components that the operations refer to. `hasSamples` adds code samples and example errors. */
export function createDocumentWriter(publicUrl: string, hasSamples: boolean) {
  const { write, components } = schemaWriter()
  const errors = createErrorWriter(publicUrl, hasSamples)
  const content = (type: string, source: TSchema) => ({ [type]: { schema: write(source) } })
  const json = (schema: TSchema) => content('application/json', schema)
  /** Writes a request body. Its example leaves out fields that exclude each other, which the examples of the properties can't. */
  const body = (source: TSchema, use: Use) => {
    const schema = write(source, use)
    return { 'application/json': { schema, example: buildExample(schema, components) } }
  }

  return { write, components, errors, content, json, body, hasSamples }
}
