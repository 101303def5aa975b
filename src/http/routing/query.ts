import { findControl, findForbiddenCharacter } from '../../domain/values/characters.ts'
import { canBeEmail, isEmail } from '../../domain/values/email.ts'
import { isSkipped, readTimestamp, timestampFormats } from '../../domain/values/timestamp.ts'
import type { FieldError } from '../../errors/api-error.ts'
import type { Static, TObject, TSchema } from '../../schemas/schemas.ts'

/** The JSON Schema keywords that query parameters use. */
interface Schema {
  type?: string
  enum?: readonly string[]
  format?: string
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** Parses a query string by its schema. Returns the parsed values, the parameters as sent, and every error. */
export function parseQuery<T extends TObject>(
  schema: T,
  text: string,
  timeZone: string,
): { query: Static<T>; sent: URLSearchParams; errors: FieldError[] } {
  const query: Record<string, unknown> = {}
  const errors: FieldError[] = []
  const schemas = schema.properties as Record<string, TSchema>
  const sent = new URLSearchParams(text)
  const undecodable = findUndecodable(text)
  for (const name of new Set(sent.keys())) {
    const [value = '', ...more] = sent.getAll(name)
    const expected = Object.hasOwn(schemas, name) ? (schemas[name] as Schema) : undefined
    if (undecodable.has(name)) errors.push(invalidParameter(name, `\`${toPrintable(name)}\` ${encodingRule}`))
    else if (!expected)
      errors.push(invalidParameter(name, `\`${toPrintable(name)}\` is not a known parameter${listNames(schemas)}.`))
    else if (more.length)
      errors.push(invalidParameter(name, `\`${name}\` can be sent only once; it was sent ${more.length + 1} times.`))
    else {
      const parsed = parseValue(expected, value, timeZone)
      if (parsed === undefined) errors.push(describeError(name, expected, value, timeZone))
      else query[name] = parsed
    }
  }
  const { required = [] } = schema as { required?: string[] }
  for (const name of required) if (!sent.has(name)) errors.push(invalidParameter(name, `\`${name}\` is required.`))
  return { query: query as Static<T>, sent, errors }
}

const encodingRule = 'must be percent-encoded UTF-8. Write a `%` as `%25`.'

/** Returns the names of parameters that aren't percent-encoded UTF-8 (RFC 3986, section 2.1). `URLSearchParams` would guess their text. */
function findUndecodable(text: string): ReadonlySet<string> {
  const pairs = text.split('&').filter(pair => !isEncoded(pair))
  return new Set(new URLSearchParams(pairs.join('&')).keys())
}

function isEncoded(text: string) {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Returns undefined if the text doesn't match the schema. */
function parseValue(schema: Schema, text: string, timeZone: string): unknown {
  if (text === '' || text.length > (schema.maxLength ?? 4_000) || findForbidden(schema, text)) return
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  if (schema.type === 'integer') {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return value >= (schema.minimum ?? 0) && value <= (schema.maximum ?? Number.MAX_SAFE_INTEGER) ? value : undefined
  }
  if (schema.enum) return schema.enum.includes(text) ? text : undefined
  if (schema.format === 'email') return canBeEmail(text) ? text : undefined
  return schema.format === 'timestamp' ? readTimestamp(text, timeZone) : text
}

const findForbidden = ({ format }: Schema, text: string) =>
  format === 'multiline' ? findForbiddenCharacter(text, true) : findControl(text)

/** Returns the text with a `+` instead of its last space, which is what an unencoded `+` becomes in a URL. */
function withLastBlankAsPlus(text: string) {
  const at = text.lastIndexOf(' ')
  return at < 0 ? text : `${text.slice(0, at)}+${text.slice(at + 1)}`
}

function describeError(name: string, schema: Schema, text: string, timeZone: string): FieldError {
  if (schema.format === 'timestamp') {
    const wasPlus = readTimestamp(withLastBlankAsPlus(text), timeZone) !== undefined
    const about = wasPlus
      ? 'has a space where its offset starts. Write `+` as `%2B` in a URL'
      : isSkipped(text, timeZone)
        ? `doesn't exist in ${timeZone}: the clock skips this time`
        : `must be ${timestampFormats}`
    return { parameter: name, code: 'invalid_timestamp', detail: `\`${name}\` ${about}.` }
  }
  if (schema.format === 'cursor')
    return { parameter: name, code: 'invalid_cursor', detail: `\`${name}\` must be an \`endCursor\` of this list.` }
  if (schema.enum)
    return invalidParameter(name, `\`${name}\` must be one of ${schema.enum.map(word => `\`${word}\``).join(', ')}.`)
  if (schema.type === 'boolean') return invalidParameter(name, `\`${name}\` must be \`true\` or \`false\`.`)
  if (schema.type === 'integer')
    return invalidParameter(name, `\`${name}\` must be an integer from ${schema.minimum} to ${schema.maximum}.`)
  const forbidden = findForbidden(schema, text)
  if (forbidden)
    return invalidParameter(name, `\`${name}\` can't contain ${forbidden.name} (character ${forbidden.place}).`)
  const maxLength = schema.maxLength ?? 4_000
  if (schema.format === 'email' && text !== '' && text.length <= maxLength) {
    const wasPlus = isEmail(text.replaceAll(' ', '+'))
    const about = wasPlus ? 'has a space. Write `+` as `%2B` in a URL' : 'must be an email address'
    return invalidParameter(name, `\`${name}\` ${about}.`)
  }
  return invalidParameter(name, `\`${name}\` must have 1 to ${maxLength} characters; it has ${[...text].length}.`)
}

const invalidParameter = (parameter: string, detail: string): FieldError => ({
  parameter: toPrintable(parameter),
  code: 'invalid_parameter',
  detail,
})

/** Returns a caller's parameter name without characters that are unsafe to display. */
const toPrintable = (name: string) => name.slice(0, 40).replace(/[^\w.-]/g, '?')

const listNames = (parameters: object) => {
  const list = Object.keys(parameters).map(name => `\`${name}\``)
  return list.length ? `; use one of ${list.join(', ')}` : '; this operation has none'
}
