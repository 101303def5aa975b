import type { TSchema } from '../../schemas/schemas.ts'
import { createErrorWriter } from './errors.ts'
import { buildExample } from './examples.ts'
import { schemaWriter, type Use } from './schemas.ts'

export type Writer = ReturnType<typeof createDocumentWriter>

/** Creates a writer for operations. It collects the components that the operations refer to. */
export function createDocumentWriter(publicUrl: string) {
  const { write, components } = schemaWriter()
  const errors = createErrorWriter(publicUrl)
  const content = (type: string, source: TSchema, ...use: Use[]) => {
    const schema = write(source, ...use)
    return { [type]: { schema, example: buildExample(schema, components) } }
  }
  const json = (schema: TSchema, ...use: Use[]) => content('application/json', schema, ...use)

  return { write, components, errors, content, json }
}
