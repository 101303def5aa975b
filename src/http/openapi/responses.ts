import { getSchemaName } from '../../domain/values/fields.ts'
import { type TSchema, Type } from '../../schemas/schemas.ts'
import type { Schema } from './schema.ts'

/** The response of one record, or of a list without pages. For `Customer` its name is `CustomerResponse`. */
export const DataResponse = (schema: TSchema) =>
  Type.Object({ data: schema }, { $id: `${getSchemaName(schema)}Response`, additionalProperties: false })

const Warnings = Type.Object(
  { warnings: Type.Array(Type.Ref('Warning')) },
  { $id: 'Warnings', additionalProperties: false },
)

/** The response of a write that can have warnings. For `Customer` its name is `CustomerWithWarnings`. */
export const ResponseWithWarnings = (schema: TSchema) =>
  Type.Object(
    { data: schema, meta: Type.Optional(Warnings) },
    { $id: `${getSchemaName(schema)}WithWarnings`, additionalProperties: false },
  )

/** Returns the content of a bulk export. The description says what a line is, because OpenAPI 3.1 has no schema for NDJSON. */
export const buildNdjsonContent = ({ $ref }: Schema) => ({
  schema: {
    type: 'string',
    description: `One ${$ref ? `\`${$ref.split('/').at(-1)}\`` : 'record'} per line.`,
  },
})
