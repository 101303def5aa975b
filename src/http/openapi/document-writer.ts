import type { TSchema } from '../../schemas/schemas.ts'
import { errorWriter } from './errors.ts'
import { exampleOf } from './examples.ts'
import { schemaWriter, type Use } from './schemas.ts'

export type Writer = ReturnType<typeof documentWriter>

/** What operations are written with: what several refer to is collected as they are. */
export function documentWriter(publicUrl: string) {
  const { write, components } = schemaWriter()
  const errors = errorWriter(publicUrl)
  const content = (type: string, shape: TSchema, ...use: Use[]) => {
    const schema = write(shape, ...use)
    return { [type]: { schema, example: exampleOf(schema, components) } }
  }
  const json = (shape: TSchema, ...use: Use[]) => content('application/json', shape, ...use)

  return { write, components, errors, content, json }
}
