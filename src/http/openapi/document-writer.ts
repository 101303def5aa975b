import type { TSchema } from '../../schemas/schemas.ts'
import { createErrorWriter } from './errors.ts'
import { buildExample } from './examples.ts'
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
    return { 'application/json': { schema, example: buildExample(schema, components) } }
  }

  return { write, components, errors, content: buildContent, json: buildJsonContent, body: buildBody, hasSamples }
}
