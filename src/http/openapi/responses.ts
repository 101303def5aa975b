import { shapeName } from '../../domain/values/fields.ts'
import { type TSchema, Type } from '../../schemas/schemas.ts'
import { exampleOf } from './examples.ts'
import type { Schema } from './schema.ts'

/** An answer of one record, or of a few that come all at once: of `Customer` it is `CustomerResponse`. */
export const DataResponse = (shape: TSchema) =>
  Type.Object({ data: shape }, { $id: `${shapeName(shape)}Response`, additionalProperties: false })

const Warnings = Type.Object(
  { warnings: Type.Array(Type.Ref('Warning')) },
  { $id: 'Warnings', additionalProperties: false },
)

/** An answer that may warn: of `Customer` it is `CustomerWithWarnings`. */
export const AnswerWithWarnings = (shape: TSchema) =>
  Type.Object(
    { data: shape, meta: Type.Optional(Warnings) },
    { $id: `${shapeName(shape)}WithWarnings`, additionalProperties: false },
  )

/** A whole list as NDJSON: what each line is stands in words, because OpenAPI 3.1 has no schema for lines. */
export function linesOf(line: Schema, components: Record<string, Schema>) {
  const example = `${JSON.stringify(exampleOf(line, components))}\n`
  const name = line.$ref?.split('/').at(-1)
  const description = `The whole list as NDJSON (https://github.com/ndjson/ndjson-spec), the oldest first: each line is ${name ? `a \`${name}\`` : 'a record'}. An answer that is cut off is not whole.`
  return { schema: { type: 'string', description, examples: [example] }, example }
}
