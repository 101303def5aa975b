import { isUsername, usernameRule } from '../../domain/accounts.ts'
import { settingFormats } from '../../domain/tenancy/settings-rules.ts'
import { oddityIn } from '../../domain/values/characters.ts'
import { isEmail } from '../../domain/values/email.ts'
import { decimalsOf } from '../../domain/values/money.ts'
import type { ErrorCode, Fault } from '../../errors/api-error.ts'
import type { TSchema } from '../../schemas/schemas.ts'
import { shown } from './json.ts'

/** What a shape says, as JSON Schema. */
interface Shape {
  type?: string
  properties?: Record<string, Shape>
  patternProperties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  anyOf?: Shape[]
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

/** What a value is judged with beside its shape. */
interface Circumstances {
  /** The currency that amounts are in. */
  currency: string
}

/**
 * Every fault of a value by its shape. What breaks the shape (type, missing, unknown) is `invalid_body`; what breaks a rule of the
 * domain (length, range, form, a date that does not exist) is `invalid_field` (contract 1.1).
 */
export function faultsOf(shape: TSchema, value: unknown, circumstances: Circumstances): Fault[] {
  const faults: Fault[] = []
  const fault = (code: ErrorCode, pointer: string, detail: string) => faults.push({ pointer, code, detail })
  const exampleOf = ({ examples: [example] = [], format }: Shape) => {
    if (example === undefined || typeof example === 'object') return ''
    const fitting = format === 'money' ? amountIn(circumstances.currency, String(example)) : example
    return `, for example ${JSON.stringify(fitting)}`
  }

  function judge(of: Shape, given: unknown, at: string, name = nameOf(at)): void {
    const choices = of.anyOf ?? []
    if (choices.length) {
      if (given === null && choices.some(choice => choice.type === 'null')) return
      const others = choices.filter(choice => choice.type !== 'null')
      const fitting = others.find(choice => choice.const === given || typeOf(choice) === kindOf(given)) ?? others[0]
      if (fitting) judge({ ...fitting, examples: fitting.examples ?? of.examples } as Shape, given, at, name)
      return
    }
    if (of.const !== undefined) {
      if (given !== of.const) fault('invalid_body', at, `${name} is ${JSON.stringify(of.const)}${exampleOf(of)}.`)
      return
    }
    const kind = kindOf(given)
    const wanted = typeOf(of)
    if (kind !== wanted && !(wanted === 'number' && kind === 'integer')) {
      const found = kind === 'integer' ? words.number : words[kind]
      fault('invalid_body', at, `${name} is ${words[wanted] ?? wanted}, not ${found}${exampleOf(of)}.`)
    } else if (wanted === 'object') judgeObject(of, given as Record<string, unknown>, at)
    else if (wanted === 'array') judgeArray(of, given as unknown[], at, name)
    else if (wanted === 'string') judgeText(of, given as string, at, name)
    else if (wanted === 'integer' || wanted === 'number') judgeNumber(of, given as number, at, name)
  }

  function judgeObject({ properties = {}, patternProperties, required = [] }: Shape, given: object, at: string) {
    const any = patternProperties && Object.values(patternProperties)[0]
    for (const [name, each] of Object.entries(given)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : any
      const place = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (known) judge(known, each, place)
      else fault('invalid_body', place.slice(0, 100), `There is no field ${shown(name)}${among(properties)}.`)
    }
    for (const name of required)
      if (!Object.hasOwn(given, name)) fault('invalid_body', `${at}/${name}`, `${nameOf(`${at}/${name}`)} is missing.`)
  }

  function judgeArray(
    { items, minItems = 0, maxItems = 1_000, uniqueItems }: Shape,
    given: unknown[],
    at: string,
    name: string,
  ) {
    if (given.length < minItems)
      fault('invalid_field', at, `${name} has at least ${minItems} ${minItems === 1 ? 'entry' : 'entries'}.`)
    else if (given.length > maxItems) fault('invalid_field', at, `${name} has at most ${maxItems} entries.`)
    else
      for (const [i, each] of given.entries()) {
        if (items) judge(items, each, `${at}/${i}`, `An entry of ${name}`)
        if (uniqueItems && given.indexOf(each) < i)
          fault('invalid_field', `${at}/${i}`, `${name} has the same entry twice.`)
      }
  }

  function judgeNumber(
    { minimum = -Infinity, maximum = Infinity, ...of }: Shape,
    given: number,
    at: string,
    name: string,
  ) {
    // A fraction is of another type than a whole number (contract 1: a shape); a whole number out of range is against a rule.
    if (given < minimum || given > maximum)
      fault('invalid_field', at, `${name} is ${range(minimum, maximum)}${exampleOf(of)}.`)
  }

  function judgeText(of: Shape, given: string, at: string, name: string) {
    if (of.enum) {
      if (!of.enum.includes(given))
        fault('invalid_field', at, `${name} is one of ${of.enum.map(word => `\`${word}\``).join(', ')}.`)
      return
    }
    const { minLength = 0, maxLength = Infinity, pattern, format = '' } = of
    const length = [...given].length
    const odd = oddityIn(given, format === 'multiline')
    if (odd) fault('invalid_field', at, `${name} holds ${odd}.`)
    else if (length < minLength) fault('invalid_field', at, `${name} is not empty${exampleOf(of)}.`)
    else if (length > maxLength)
      fault('invalid_field', at, `${name} has at most ${maxLength} characters, not ${length}.`)
    else {
      const told =
        formats[format]?.(given, circumstances) ??
        (pattern !== undefined && !matches(given, pattern) ? 'in this form' : undefined)
      if (told) fault('invalid_field', at, `${name} is ${told}${exampleOf(of)}.`)
    }
  }

  judge(shape as Shape, value, '')
  return faults
}

const words: Record<string, string> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '`true` or `false`',
  null: 'null',
}

const typeOf = ({ type, enum: choices }: Shape) => type ?? (choices ? 'string' : 'object')

function kindOf(value: unknown) {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

const nameOf = (pointer: string) => (pointer === '' ? 'The body' : shown(pointer.slice(pointer.lastIndexOf('/') + 1)))
/** An example of an amount, cut or padded to the decimals of the currency. */
function amountIn(currency: string, example: string) {
  const decimals = decimalsOf(currency)
  const [whole, fraction = ''] = example.split('.')
  return decimals ? `${whole}.${fraction.slice(0, decimals).padEnd(decimals, '0')}` : whole
}
const among = (properties: object) => {
  const names = Object.keys(properties)
  return names.length ? `; there are ${names.map(name => `\`${name}\``).join(', ')}` : ''
}
const range = (minimum: number, maximum: number) =>
  Number.isFinite(minimum) && Number.isFinite(maximum)
    ? `from ${minimum} to ${maximum}`
    : Number.isFinite(minimum)
      ? `at least ${minimum}`
      : `at most ${maximum}`

/** Expressions by their sources, of which there are as many as shapes have. */
const expressions = new Map<string, RegExp>()

function matches(text: string, source: string) {
  const expression = expressions.get(source) ?? new RegExp(source, 'u')
  expressions.set(source, expression)
  return expression.test(text)
}

/** What a text of a format has to be, where it is not. */
const formats: Record<string, (text: string, circumstances: Circumstances) => string | undefined> = {
  ...settingFormats,
  date: text => (isDate(text) ? undefined : 'a date of the calendar, YYYY-MM-DD'),
  username: text => (isUsername(text) ? undefined : usernameRule),
  email: text => (isEmail(text) ? undefined : 'one e-mail address'),
  money(text, { currency }) {
    const decimals = decimalsOf(currency)
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
