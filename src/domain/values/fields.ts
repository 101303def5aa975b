import { type TSchema, Type } from '../../schemas/schemas.ts'
import { phoneCharacters } from './characters.ts'

/** An identifier. Always a string, even if it looks like a number (`"008"`). */
export const Id = (description: string, example: string) =>
  Type.String({ description, minLength: 1, maxLength: 100, examples: [example] })

/** A string of at most `maxLength` code points. */
export const Text = (description: string, example: string, maxLength = 250) =>
  Type.String({ description, maxLength, examples: [example] })

/** A telephone number. */
export const Phone = (description: string) =>
  Type.String({
    description: `${description}: 3 to 20 digits, with spaces, \`+\`, \`-\`, \`(\`, \`)\`, \`.\` and \`/\` between them. Typographic spaces and hyphens are stored as plain ones.`,
    maxLength: 50,
    format: 'phone',
    pattern: `^(?=(?:[^0-9]*[0-9]){3,20}[^0-9]*$)[${phoneCharacters}]+$`,
    examples: ['+61 400 123 456'],
  })

/** An amount: a string with the decimals of the `currency` next to it. */
export const Money = (description: string, example = '39.95') =>
  Type.String({ description, format: 'money', pattern: '^-?\\d{1,12}(\\.\\d{1,4})?$', examples: [example] })

/** The currency of the amounts in an import row. It is checked, but not stored. */
export const CheckedCurrency = () =>
  Type.String({
    description: 'The currency of the amounts. It must be the one of the service.',
    format: 'checked-currency',
    maxLength: 3,
    examples: ['AUD'],
  })

/** The price of one unit: a string with the currency's decimals, or up to four if it is finer. */
export const UnitPrice = (description: string, example = '39.95') =>
  Type.String({ description, format: 'unit-price', pattern: '^-?\\d{1,12}(\\.\\d{1,4})?$', examples: [example] })

/** A quantity: units, or up to three decimals for weighed and measured goods. */
export const Units = (description: string, example: number, options: { minimum?: number } = {}) =>
  Type.Number({ description, minimum: -2_147_483_648, maximum: 2_147_483_647, ...options, examples: [example] })

/** An integer in the range of PostgreSQL's `integer`. */
export const Integer = (description: string, example: number, options: { minimum?: number } = {}) =>
  Type.Integer({ description, minimum: -2_147_483_648, maximum: 2_147_483_647, ...options, examples: [example] })

/** A count, from 0 to the largest safe integer. */
export const Count = (description: string, example: number) =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [example] })

export const Flag = (description: string, example = true) => Type.Boolean({ description, examples: [example] })

/** A local time in the service's time zone: `YYYY-MM-DD HH:MM:SS`. */
export const LocalTime = (description: string, example = '2024-05-10 09:30:00') =>
  Type.String({
    description,
    format: 'local-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
    examples: [example],
  })

/** A timestamp in UTC (RFC 3339). */
export const Instant = (description: string, example = '2026-11-21T09:31:27Z') =>
  Type.String({ description, format: 'date-time', examples: [example] })

/** The change time of a record in its source. `updateTimeStamp` is derived from it. `fallback` is used without it. */
export const SourceTimestamp = (fallback = 'the time of the import') =>
  LocalTime(
    `When the record last changed in its source. It becomes \`updateTimeStamp\`, unless a later change is already stored. Default: ${fallback}.`,
  )

/** A date: `YYYY-MM-DD`. */
export const LocalDate = (description: string, example: string) =>
  Type.String({ description, format: 'date', examples: [example] })

/** A field that is always present. Without a value it is null. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A field that can be left out. Null and an empty string mean the same. */
export const Optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))

export const Currency = Type.String({ description: 'ISO 4217.', pattern: '^[A-Z]{3}$', examples: ['AUD'] })

/** Returns the public name of a schema: its `$id`, or the name of its items and `List`. Throws if it has none. */
export function getSchemaName(schema: TSchema): string {
  const { $id, items } = schema as { $id?: string; items?: TSchema }
  if ($id !== undefined) return $id
  if (items) return `${getSchemaName(items)}List`
  throw new Error('schema without an $id')
}

/** One of several constant strings. */
export const OneOf = <const T extends readonly string[]>(description: string, words: T) =>
  Type.Enum<[...T]>([...words], { description, examples: [words[0]] })
