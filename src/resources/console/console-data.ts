import { rangeNames } from '../../domain/time-ranges.ts'
import { OneOf } from '../../domain/values/fields.ts'
import { Type } from '../../schemas/schemas.ts'

/** Options of routes that only the console uses. They are not part of the API, so no document lists them. */
export const consoleRoute = {
  description: 'Data of a screen of the console.',
  response: Type.Object({}, { $id: 'ConsoleData' }),
} as const

/** The parameter of a time range that ends now. Default 24 hours. */
export const rangeQuery = Type.Object({ range: Type.Optional(OneOf('The time range.', rangeNames)) })
