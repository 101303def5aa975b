import type { Static, TObject, TSchema } from 'typebox'
import { momentForms, readMoment } from '../domain/timestamp.ts'
import type { Fault } from '../errors.ts'
import { hasControls } from './controls.ts'

/** What a query parameter's shape says of it, as JSON Schema. */
interface Shape {
  type?: string
  format?: string
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** The query's parameters as their shapes have them, and every fault in them (contract 1, "Queries"). */
export function readQuery<T extends TObject>(
  shape: T,
  given: URLSearchParams,
  timeZone: string,
): { query: Static<T>; faults: Fault[] } {
  const query: Record<string, unknown> = {}
  const faults: Fault[] = []
  const known = shape.properties as Record<string, TSchema>
  for (const name of new Set(given.keys())) {
    const [text = '', ...more] = given.getAll(name)
    const wanted = Object.hasOwn(known, name) ? (known[name] as Shape) : undefined
    if (!wanted) faults.push(invalid(name, `There is no parameter \`${printable(name)}\`${names(known)}.`))
    else if (more.length) faults.push(invalid(name, `\`${name}\` was given ${more.length + 1} times.`))
    else {
      const value = read(wanted, text, timeZone)
      if (value === undefined) faults.push(refusal(name, wanted))
      else query[name] = value
    }
  }
  return { query: query as Static<T>, faults }
}

function read(shape: Shape, text: string, timeZone: string): unknown {
  if (text === '' || text.length > (shape.maxLength ?? 4_000) || hasControls(text)) return
  if (shape.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  if (shape.type === 'integer') {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return value >= (shape.minimum ?? 0) && value <= (shape.maximum ?? Number.MAX_SAFE_INTEGER) ? value : undefined
  }
  return shape.format === 'moment' ? readMoment(text, timeZone) : text
}

function refusal(name: string, shape: Shape): Fault {
  if (shape.format === 'moment')
    return { parameter: name, code: 'invalid_timestamp', detail: `\`${name}\` is ${momentForms}.` }
  if (shape.format === 'cursor')
    return { parameter: name, code: 'invalid_cursor', detail: `\`${name}\` is an \`endCursor\` of this list.` }
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
