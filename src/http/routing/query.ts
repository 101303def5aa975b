import { hasControls, oddityIn } from '../../domain/values/characters.ts'
import { isSkipped, momentForms, readMoment } from '../../domain/values/timestamp.ts'
import type { Fault } from '../../errors/api-error.ts'
import type { Static, TObject, TSchema } from '../../schemas/schemas.ts'

/** What a query parameter's shape says of it, as JSON Schema. */
interface Shape {
  type?: string
  enum?: readonly string[]
  format?: string
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** A query's parameters as their shapes have them, as they were given, and every fault in them (contract 1, "Queries"). */
export function readQuery<T extends TObject>(
  shape: T,
  text: string,
  timeZone: string,
): { query: Static<T>; given: URLSearchParams; faults: Fault[] } {
  const query: Record<string, unknown> = {}
  const faults: Fault[] = []
  const known = shape.properties as Record<string, TSchema>
  const given = new URLSearchParams(text)
  const illegible = illegibleIn(text)
  for (const name of new Set(given.keys())) {
    const [value = '', ...more] = given.getAll(name)
    const wanted = Object.hasOwn(known, name) ? (known[name] as Shape) : undefined
    if (illegible.has(name)) faults.push(invalid(name, `\`${printable(name)}\` ${unencoded}`))
    else if (!wanted) faults.push(invalid(name, `There is no parameter \`${printable(name)}\`${names(known)}.`))
    else if (more.length) faults.push(invalid(name, `\`${name}\` was given ${more.length + 1} times.`))
    else {
      const found = read(wanted, value, timeZone)
      if (found === undefined) faults.push(refusal(name, wanted, value, timeZone))
      else query[name] = found
    }
  }
  return { query: query as Static<T>, given, faults }
}

const unencoded = 'is not percent-encoded UTF-8; a `%` itself is `%25`.'

/** Parameters whose text nobody can tell (RFC 3986, section 2.1), by name; `URLSearchParams` takes a guess at them. */
function illegibleIn(text: string): ReadonlySet<string> {
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

function read(shape: Shape, text: string, timeZone: string): unknown {
  const isOdd = shape.format === 'multiline' ? oddityIn(text, true) !== undefined : hasControls(text)
  if (text === '' || text.length > (shape.maxLength ?? 4_000) || isOdd) return
  if (shape.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  if (shape.type === 'integer') {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return value >= (shape.minimum ?? 0) && value <= (shape.maximum ?? Number.MAX_SAFE_INTEGER) ? value : undefined
  }
  if (shape.enum) return shape.enum.includes(text) ? text : undefined
  return shape.format === 'moment' ? readMoment(text, timeZone) : text
}

function refusal(name: string, shape: Shape, text: string, timeZone: string): Fault {
  if (shape.format === 'moment') {
    const wasPlus = readMoment(text.replace(/ (?=[^ ]*$)/, '+'), timeZone) !== undefined
    const about = wasPlus
      ? 'has a space where an offset begins: a `+` in a URL is `%2B`'
      : isSkipped(text, timeZone)
        ? `is a time that the clock of ${timeZone} skips`
        : `is ${momentForms}`
    return { parameter: name, code: 'invalid_timestamp', detail: `\`${name}\` ${about}.` }
  }
  if (shape.format === 'cursor')
    return { parameter: name, code: 'invalid_cursor', detail: `\`${name}\` is an \`endCursor\` of this list.` }
  if (shape.enum) return invalid(name, `\`${name}\` is one of ${shape.enum.map(word => `\`${word}\``).join(', ')}.`)
  if (shape.type === 'boolean') return invalid(name, `\`${name}\` is \`true\` or \`false\`.`)
  if (shape.type === 'integer')
    return invalid(name, `\`${name}\` is a whole number from ${shape.minimum} to ${shape.maximum}.`)
  return invalid(
    name,
    `\`${name}\` is a text of 1 to ${shape.maxLength ?? 4_000} characters without control characters.`,
  )
}

const invalid = (parameter: string, detail: string): Fault => ({
  parameter: printable(parameter),
  code: 'invalid_parameter',
  detail,
})

/** A name from outside, fit to be shown. */
const printable = (name: string) => name.slice(0, 40).replace(/[^\w.-]/g, '?')

const names = (known: object) => {
  const list = Object.keys(known).map(name => `\`${name}\``)
  return list.length ? `; there are ${list.join(', ')}` : ' here'
}
