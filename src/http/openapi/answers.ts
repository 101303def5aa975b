import { type TSchema, Type } from 'typebox'
import { shapeName } from '../../domain/fields.ts'

/** An answer of one record, or of a few that come all at once: of `Customer` it is `CustomerAnswer`. */
export const Answer = (shape: TSchema) =>
  Type.Object({ data: shape }, { $id: `${shapeName(shape)}Answer`, additionalProperties: false })

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
