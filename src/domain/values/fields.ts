import { type TSchema, Type } from '../../schemas/schemas.ts'

/** An identifier: a string always, also where it looks like a number (`"008"`). */
export const Id = (description: string, example: string) =>
  Type.String({ description, minLength: 1, maxLength: 100, examples: [example] })

/** Text of at most `maxLength` code points. */
export const Text = (description: string, example: string, maxLength = 250) =>
  Type.String({ description, maxLength, examples: [example] })

/** An amount as text with the currency's decimals, next to a `currency` (contract 1.3). */
export const Money = (description: string, example = '39.95') =>
  Type.String({ description, format: 'money', pattern: '^-?\\d{1,12}(\\.\\d{1,4})?$', examples: [example] })

/** The price of one unit, as text: with the currency's decimals, or up to four where it is finer. */
export const UnitPrice = (description: string, example = '39.95') =>
  Type.String({ description, format: 'unit-price', pattern: '^-?\\d{1,12}(\\.\\d{1,4})?$', examples: [example] })

/** How much was sold: units, or with up to three decimals what is weighed or measured. */
export const Units = (description: string, example: number) =>
  Type.Number({ description, minimum: -2_147_483_648, maximum: 2_147_483_647, examples: [example] })

/** A whole number that a PostgreSQL integer holds. */
export const Whole = (description: string, example: number, options: { minimum?: number } = {}) =>
  Type.Integer({ description, minimum: -2_147_483_648, maximum: 2_147_483_647, ...options, examples: [example] })

/** How many there are of something. */
export const Count = (description: string, example: number) =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [example] })

export const Flag = (description: string, example = true) => Type.Boolean({ description, examples: [example] })

/** `YYYY-MM-DD HH:MM:SS`, the wall clock of the service's time zone (contract 1.2). */
export const LocalTime = (description: string, example = '2024-05-10 09:30:00') =>
  Type.String({
    description,
    format: 'local-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
    examples: [example],
  })

/** A moment, in UTC. */
export const Instant = (description: string, example = '2026-11-21T09:31:27Z') =>
  Type.String({ description, format: 'date-time', examples: [example] })

/** When a record last changed, as its source tells it: what makes `updateTimeStamp` (contract 15). */
export const ToldTime = (otherwise = 'the time of the import') =>
  LocalTime(
    `When the source last changed the record: its \`updateTimeStamp\`, as far as the order of changes allows it. Without it: ${otherwise}.`,
  )

/** `YYYY-MM-DD`. */
export const LocalDate = (description: string, example: string) =>
  Type.String({ description, format: 'date', examples: [example] })

/** The field is always there; without a value it is null. */
export const Nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

/** A field that may be left out; null, and an empty text, say the same (contract 15). */
export const Optional = <T extends TSchema>(shape: T) => Type.Optional(Nullable(shape))

export const Currency = Type.String({ description: 'ISO 4217.', pattern: '^[A-Z]{3}$', examples: ['AUD'] })

/** What a shape is called outside; a list is called after what it holds. */
export function getSchemaName(shape: TSchema): string {
  const { $id, items } = shape as { $id?: string; items?: TSchema }
  if ($id !== undefined) return $id
  if (items) return `${getSchemaName(items)}List`
  throw new Error('a shape that is shown has a name: its $id')
}

/** One of a few words. */
export const Words = <const T extends readonly string[]>(description: string, words: T) =>
  Type.Enum<[...T]>([...words], { description, examples: [words[0]] })
