import { line, lines, noControls } from '../../domain/values/characters.ts'
import type { Schema } from './schema.ts'

/** The days that some year has. */
const days = '((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|[12]\\d))'

/** What a text of a format is in a query. East of Greenwich the first day of year 1 begins in year 0, which no record is of. */
const queryForms: Readonly<Record<string, Schema | undefined>> = {
  moment: {
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
  cursor: { pattern: '^[\\w-]{22,}$' },
  multiline: { pattern: lines },
}

/** What a text of a format is in a body. How many decimals an amount has, the currency of the service says. */
const bodyForms: Readonly<Record<string, Schema | undefined>> = {
  money: { pattern: '^(0|[1-9]\\d{0,8})(\\.\\d{1,4})?$' },
  multiline: { pattern: lines },
}

/** What a request is held to beside what a shape says of its texts: `readQuery` and `faultsOf` judge by formats, and any text. */
export function asked(text: Schema, inQuery: boolean): Schema {
  const { type, enum: words, const: word, format, pattern } = text
  if (type !== 'string' || words || word !== undefined || isStandard(format)) return text
  const form = (inQuery ? queryForms : bodyForms)[String(format)]
  return { ...text, ...(form ?? { pattern: pattern ?? (inQuery ? noControls : line) }) }
}

/** Formats that JSON Schema defines; ours say how a text is read here and mean nothing to others. */
export const isStandard = (format: unknown) => ['date', 'date-time', 'email', 'uri', 'uuid'].includes(String(format))

/** An optional text for which an empty one is null (contract 15), as a schema that says so. */
export function orEmpty(schema: Schema): Schema {
  const { description, examples, readOnly, type, ...text } = schema
  if (String(type) !== 'string,null') return schema
  const takesEmpty = !isStandard(text.format) && !text.minLength && new RegExp(String(text.pattern ?? ''), 'u').test('')
  if (takesEmpty) return schema
  return {
    description,
    examples,
    readOnly,
    anyOf: [{ type: 'string', ...text }, { type: 'string', maxLength: 0 }, { type: 'null' }],
  }
}
