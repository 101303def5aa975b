import { line, lines, noControls, notBlank, notPadded } from '../../domain/values/characters.ts'
import { emailForm } from '../../domain/values/email.ts'
import type { Schema } from './schema.ts'

/** Month and day of every date, including 29 February. */
const days = '((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|[12]\\d))'

/**
 * The schema of a string by its format, in a query. Excludes the first day of year 1: east of Greenwich it begins in year 0, which
 * PostgreSQL doesn't have.
 */
const queryFormats: Readonly<Record<string, Schema | undefined>> = {
  timestamp: {
    anyOf: [
      {
        format: 'date-time',
        pattern:
          '^(?!0000|0001-01-01)\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$',
      },
      { format: 'date', pattern: '^(?!0000|0001-01-01)' },
      { pattern: `^(?!0000|0001-01-01)\\d{4}-${days}[T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$` },
    ],
  },
  email: { format: undefined, pattern: emailForm },
  cursor: { pattern: '^[\\w-]{22,}$' },
  multiline: { pattern: lines },
}

/** The schema of a string by its format, in a body. The number of decimals of an amount depends on the currency of the service. */
const bodyFormats: Readonly<Record<string, Schema | undefined>> = {
  money: { pattern: '^(0|[1-9]\\d{0,8})(\\.\\d{1,4})?$' },
  multiline: { pattern: lines },
}

/** The format of a string without control characters, line breaks and characters that change the direction of writing. */
const singleLine = 'single-line'

/** Short equivalents of the patterns that many fields have. */
const shortRules: Readonly<Record<string, Schema | undefined>> = {
  [line]: { format: singleLine, pattern: undefined },
  [notBlank]: { format: singleLine, pattern: '\\S' },
  [notPadded]: { format: singleLine, pattern: '^\\S(.*\\S)?$' },
}

/** True if a pattern only excludes characters that no stored text has. Responses are documented without it, because it is long. */
export const isCharacterRule = (pattern: unknown) => Object.hasOwn(shortRules, String(pattern))

/** Adds the rules that `parseQuery` and `validateBody` apply to strings by their formats, and to every string. */
export function toRequestSchema(schema: Schema, inQuery: boolean): Schema {
  const { type, enum: words, const: word, format, pattern } = schema
  if (type !== 'string' || words || word !== undefined) return schema
  const rule = (inQuery ? queryFormats : bodyFormats)[String(format)]
  if (!rule && isStandardFormat(format)) return schema
  const ownPattern = String(pattern ?? (inQuery ? noControls : line))
  return { ...schema, ...(rule ?? shortRules[ownPattern] ?? { pattern: ownPattern }) }
}

/** True if JSON Schema defines the format. */
const isStandardFormat = (format: unknown) =>
  ['date', 'date-time', 'email', 'ipv4', 'ipv6', 'uri', 'uuid'].includes(String(format))
/** True if JSON Schema or the introduction of the document defines the format. Other formats are internal. */
export const isPublishedFormat = (format: unknown) => format === singleLine || isStandardFormat(format)
/** True if the format of a response replaces its pattern. The introduction of the document defines these formats. */
export const isResponseFormat = (format: unknown) => ['local-time', 'money', 'unit-price'].includes(String(format))

/** Allows the empty string in an optional field, because it is read as null. */
export function allowEmpty(schema: Schema): Schema {
  const { description, examples, readOnly, type, ...keywords } = schema
  if (String(type) !== 'string,null') return schema
  const { minLength, ...otherKeywords } = schema
  const pattern = String(otherKeywords.pattern ?? '')
  if (!isStandardFormat(otherKeywords.format) && Number(minLength ?? 0) <= 1)
    return new RegExp(pattern, 'u').test('') ? otherKeywords : { ...otherKeywords, pattern: `^$|${pattern}` }
  return {
    description,
    examples,
    readOnly,
    anyOf: [{ type: 'string', ...keywords }, { type: 'string', maxLength: 0 }, { type: 'null' }],
  }
}
