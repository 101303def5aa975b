import { ApiError, toApiError } from '../../errors/api-error.ts'

/** The maximum nesting depth of a body. No schema is nearly as deep. */
const maxDepth = 32
/** The maximum number of values in a body. The largest valid bodies have a few thousand. */
const maxValues = 10_000

/**
 * Parses a body strictly (RFC 8259). Throws `malformed_json` if it isn't UTF-8 or JSON. Duplicate names in an object, more than 32 levels, and
 * numbers that can't be stored exactly are errors too. Throws `invalid_body` if there are more than 10,000 values.
 */
export function readJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  const problem = findJsonProblem(text)
  if (problem) throw new ApiError('malformed_json', problem)
  return value
}

function decode(bytes: Uint8Array) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ApiError('malformed_json', 'The body must be valid UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError(
      'malformed_json',
      text.trim() === '' ? 'The body is empty. If you have no fields, send `{}`.' : 'The body must be valid JSON.',
    )
  }
}

/** Returns what is wrong with JSON that `JSON.parse` accepts, as a sentence. Reads each character once, because a body can have 262,144. */
function findJsonProblem(text: string): string | undefined {
  /** The names in each open object, outermost first. Undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let [stringStart, stringEnd] = [0, 0]
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? ''
    if (character === '"') {
      stringStart = i
      stringEnd = findStringEnd(text, i)
      i = stringEnd
    } else if (character === ',') {
      if (++values > maxValues) throw tooManyValues()
    } else if (character === ':') {
      const name = JSON.parse(text.slice(stringStart, stringEnd + 1)) as string
      const names = open.at(-1)
      if (names?.has(name)) return `The name ${quoteName(name)} can't be used twice in one object.`
      names?.add(name)
    } else if (character === '{' || character === '[') {
      if (open.push(character === '{' ? new Set() : undefined) > maxDepth)
        return `The body can have at most ${maxDepth} levels.`
    } else if (character === '}' || character === ']') open.pop()
    else if (numberStart.test(character)) {
      numbers.lastIndex = i
      const [token = ''] = numbers.exec(text) ?? []
      if (!isExactNumber(token)) return `The number ${token.slice(0, 40)} can't be stored exactly.`
      i += token.length - 1
    }
  }
  return
}

const numberStart = /[-\d]/
const numbers = /[-+.\dEe]+/y

/** Returns the place of the quotation mark that closes a string of valid JSON. */
function findStringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '"') return i
    if (text[i] === '\\') i++
  }
  return text.length
}

function tooManyValues() {
  const detail = `The body can have at most ${maxValues.toLocaleString('en')} values.`
  return toApiError([{ pointer: '', code: 'invalid_body', detail }])
}

/** True if JavaScript stores the number exactly as it is written, apart from trailing zeros. */
const isExactNumber = (token: string) => {
  const shortest = token.replace(/\.0+$|(\.\d*[1-9])0+$/, '$1')
  return (
    /^-?[\d.]+$/.test(token) && String(Number(token)) === shortest && Math.abs(Number(token)) <= Number.MAX_SAFE_INTEGER
  )
}

/** Returns a name from a request in backquotes: shortened, without unsafe characters. */
export const quoteName = (name: string) => `\`${name.slice(0, 40).replace(/[^\w.$@-]/gu, '?')}\``

/** Serializes a value with sorted names and without whitespace. Equal values have equal text. */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${toCanonicalJson(member)}`).join()}}`
}
