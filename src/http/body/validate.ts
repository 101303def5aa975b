import { isUsername, usernameRule } from '../../domain/accounts.ts'
import { settingFormats } from '../../domain/tenancy/settings-rules.ts'
import {
  type ForbiddenCharacter,
  findCharacter,
  findForbiddenCharacter,
  findInvisible,
  findVariant,
  notBlank,
  notPadded,
  phoneCharacters,
  toPlainCharacters,
} from '../../domain/values/characters.ts'
import { isEmail } from '../../domain/values/email.ts'
import { getDecimals } from '../../domain/values/money.ts'
import type { ErrorCode, FieldError } from '../../errors/api-error.ts'
import type { TSchema } from '../../schemas/schemas.ts'
import { quoteName } from './json.ts'

/** The JSON Schema keywords that bodies use. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  examples?: unknown[]
}

/** The entries of a list whose schema has no other maximum. */
const defaultMaxItems = 1_000

/** True if a list has more entries than its schema permits. Its entries are neither normalized nor validated. */
export const isTooLong = (value: readonly unknown[], { maxItems = defaultMaxItems }: { maxItems?: number }) =>
  value.length > maxItems

/** Errors of each code in one response. A response with all of them could be many times as long as the body. */
export const maxErrors = 100

/** The settings of a service that validation depends on. */
interface ValidationContext {
  currency: string
}

/**
 * Returns the errors of a value, at most 100 of each code. A value that doesn't match the schema (wrong type, missing or unknown
 * field) is `invalid_body`. A violated domain rule (length, range, format, a date that doesn't exist) is `invalid_field`.
 */
export function validateBody(schema: TSchema, body: unknown, context: ValidationContext): FieldError[] {
  const errors: FieldError[] = []
  const counts: Partial<Record<ErrorCode, number>> = {}
  const addError = (code: ErrorCode, pointer: string, detail: string) => {
    const count = (counts[code] ?? 0) + 1
    counts[code] = count
    if (count <= maxErrors) errors.push({ pointer, code, detail })
  }
  const formatExample = ({ examples: [example] = [], format }: Schema) => {
    if (example === undefined || typeof example === 'object') return ''
    const formatted = format === 'money' ? formatAmountExample(context.currency, String(example)) : example
    return `, for example ${JSON.stringify(formatted)}`
  }

  function validate(subschema: Schema, value: unknown, at: string, name = getFieldName(at)): void {
    const choices = subschema.anyOf ?? []
    if (choices.length) {
      if (value === null && choices.some(choice => choice.type === 'null')) return
      const nonNull = choices.filter(choice => choice.type !== 'null')
      const fitting =
        nonNull.find(choice => choice.const === value || getSchemaType(choice) === getTypeName(value)) ?? nonNull[0]
      if (fitting) validate({ ...fitting, examples: fitting.examples ?? subschema.examples } as Schema, value, at, name)
      return
    }
    if (subschema.const !== undefined) {
      if (value !== subschema.const)
        addError('invalid_body', at, `${name} must be ${JSON.stringify(subschema.const)}${formatExample(subschema)}.`)
      return
    }
    const actual = getTypeName(value)
    const expected = getSchemaType(subschema)
    if (actual !== expected && !(expected === 'number' && actual === 'integer')) {
      const received = expected === 'integer' && actual === 'number' ? 'a decimal number' : describeType(actual)
      addError(
        'invalid_body',
        at,
        `${name} must be ${words[expected] ?? expected}, not ${received}${formatExample(subschema)}.`,
      )
    } else if (expected === 'object') validateObject(subschema, value as Record<string, unknown>, at)
    else if (expected === 'array') validateArray(subschema, value as unknown[], at, name)
    else if (expected === 'string') validateString(subschema, value as string, at, name)
    else if (expected === 'integer' || expected === 'number') validateNumber(subschema, value as number, at, name)
  }

  function validateObject({ properties = {}, patternProperties, required = [] }: Schema, value: object, at: string) {
    const schemaOfAnyName = patternProperties && Object.values(patternProperties)[0]
    for (const [name, member] of Object.entries(value)) {
      if ((counts.invalid_body ?? 0) >= maxErrors) return
      const property = Object.hasOwn(properties, name) ? properties[name] : schemaOfAnyName
      const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (property) validate(property, member, pointer)
      else
        addError(
          'invalid_body',
          pointer.slice(0, 100),
          `${quoteName(name)} is not a known field${listFields(properties)}.`,
        )
    }
    for (const name of required)
      if (!Object.hasOwn(value, name))
        addError('invalid_body', `${at}/${name}`, `${getFieldName(`${at}/${name}`)} is required.`)
  }

  function validateArray(subschema: Schema, value: unknown[], at: string, name: string) {
    const { items, minItems = 0, maxItems = defaultMaxItems, uniqueItems } = subschema
    if (isTooLong(value, subschema))
      return addError('invalid_field', at, `${name} can have at most ${maxItems} entries.`)
    if (value.length < minItems)
      addError('invalid_field', at, `${name} must have at least ${minItems} ${minItems === 1 ? 'entry' : 'entries'}.`)
    const seen = new Set<unknown>()
    for (const [i, item] of value.entries()) {
      if ((counts.invalid_body ?? 0) >= maxErrors) return
      if (items) validate(items, item, `${at}/${i}`, `An entry of ${name}`)
      if (uniqueItems && seen.has(item))
        addError('invalid_field', `${at}/${i}`, `${name} can't have the same entry twice.`)
      seen.add(item)
    }
  }

  function validateNumber(
    { minimum = -Infinity, maximum = Infinity, ...subschema }: Schema,
    value: number,
    at: string,
    name: string,
  ) {
    // A fraction is a wrong type (`invalid_body`); an integer out of range breaks a rule (`invalid_field`).
    if (value < minimum || value > maximum)
      addError('invalid_field', at, `${name} must be ${formatRange(minimum, maximum)}${formatExample(subschema)}.`)
  }

  function validateString(subschema: Schema, value: string, at: string, name: string) {
    if (subschema.enum) {
      if (!subschema.enum.includes(value))
        addError('invalid_field', at, `${name} must be one of ${subschema.enum.map(word => `\`${word}\``).join(', ')}.`)
      return
    }
    const { minLength = 0, maxLength = Infinity, pattern, format = '' } = subschema
    const length = [...value].length
    const forbidden =
      findForbiddenCharacter(value, format === 'multiline') ??
      forbiddenByFormat[format]?.(value) ??
      (pattern === notPadded ? findInvisible(value) : undefined)
    if (forbidden)
      addError('invalid_field', at, `${name} can't contain ${forbidden.name} (character ${forbidden.place}).`)
    else if (length < minLength) addError('invalid_field', at, `${name} can't be empty${formatExample(subschema)}.`)
    else if (length > maxLength)
      addError('invalid_field', at, `${name} can have at most ${maxLength} characters; it has ${length}.`)
    else {
      const requirement =
        formats[format]?.(value, context) ??
        (pattern !== undefined && !matches(value, pattern)
          ? (patternRequirements[pattern] ?? 'in the documented format')
          : undefined)
      if (requirement) addError('invalid_field', at, `${name} must be ${requirement}${formatExample(subschema)}.`)
    }
  }

  validate(schema as Schema, body, '')
  return errors
}

const words: Record<string, string> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: '`true` or `false`',
  null: 'null',
}

/** Calls every number a number: only a field that must be an integer distinguishes them. */
const describeType = (type: string) => words[type === 'integer' ? 'number' : type]

const getSchemaType = ({ type, enum: choices }: Schema) => type ?? (choices ? 'string' : 'object')

function getTypeName(value: unknown) {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

const getFieldName = (pointer: string) =>
  pointer === '' ? 'The body' : quoteName(pointer.slice(pointer.lastIndexOf('/') + 1))

function formatAmountExample(currency: string, example: string) {
  const decimals = getDecimals(currency)
  const [integer, fraction = ''] = example.split('.')
  return decimals ? `${integer}.${fraction.slice(0, decimals).padEnd(decimals, '0')}` : integer
}

const listFields = (properties: object) => {
  const names = Object.keys(properties)
  return names.length ? `; use one of ${names.map(name => `\`${name}\``).join(', ')}` : ''
}

const formatRange = (minimum: number, maximum: number) =>
  Number.isFinite(minimum) && Number.isFinite(maximum)
    ? `from ${minimum} to ${maximum}`
    : Number.isFinite(minimum)
      ? `at least ${minimum}`
      : `at most ${maximum}`

/** Compiled patterns by source. Bounded: only schemas have patterns. */
const expressions = new Map<string, RegExp>()

function matches(text: string, source: string) {
  const expression = expressions.get(source) ?? new RegExp(source, 'u')
  expressions.set(source, expression)
  return expression.test(text)
}

/** Characters that only some formats forbid. */
const forbiddenByFormat: Readonly<Record<string, (text: string) => ForbiddenCharacter | undefined>> = {
  email: text =>
    (text.startsWith('"') ? undefined : findCharacter(text, /[\s,;<>()]/u)) ?? findInvisible(text) ?? findVariant(text),
  postcode: text => findInvisible(toPlainCharacters(text)),
  phone: text => findCharacter(text, notInPhone),
}
const notInPhone = new RegExp(`[^${phoneCharacters}]`, 'u')

const patternRequirements: Readonly<Record<string, string>> = {
  [notBlank]: 'a text with at least one visible character',
  [notPadded]: 'a text without whitespace at its beginning and end',
}

/** Returns the requirement that a string of this format breaks, or undefined if it is valid. */
const formats: Record<string, (text: string, context: ValidationContext) => string | undefined> = {
  ...settingFormats,
  date: text => (isDate(text) ? undefined : 'an existing date, YYYY-MM-DD'),
  username: text => (isUsername(text) ? undefined : `a name of ${usernameRule}`),
  email: text => (isEmail(text) ? undefined : 'an email address'),
  phone(text) {
    const digits = text.replace(/\D/g, '').length
    return digits >= 3 && digits <= 20 ? undefined : `a telephone number of 3 to 20 digits; it has ${digits}`
  },
  money(text, { currency }) {
    const decimals = getDecimals(currency)
    const form = new RegExp(`^(0|[1-9]\\d{0,8})${decimals ? `\\.\\d{${decimals}}` : ''}$`)
    return form.test(text) ? undefined : `an amount in ${currency} with ${decimals} decimals`
  },
}

function isDate(text: string) {
  try {
    return /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text) && Boolean(Temporal.PlainDate.from(text, { overflow: 'reject' }))
  } catch {
    return false
  }
}
