import { ApiError } from '../../errors/api-error.ts'

/** Deeper than any body of ours: an array in an array in an array … */
const deepest = 32

/**
 * A body's bytes as the value they say, or a `malformed_json` error: UTF-8 and JSON (RFC 8259) to the letter, no name twice in an
 * object, no more than 32 levels, and no number that would not be kept exactly as it is written (contract 1, "Bodies").
 */
export function readJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  const fault = faultOf(text)
  if (fault) throw new ApiError('malformed_json', fault)
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
    throw new ApiError('malformed_json', text.trim() === '' ? 'The body is empty.' : 'The body must be valid JSON.')
  }
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/gs

/** What is wrong with JSON that parses all the same. */
function faultOf(text: string): string | undefined {
  /** The names of each open object; an array has none. */
  const open: (Set<string> | undefined)[] = []
  let last = ''
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      if (open.push(token === '{' ? new Set() : undefined) > deepest)
        return `The body can have at most ${deepest} levels.`
    } else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const name = JSON.parse(last) as string
      const names = open.at(-1)
      if (names?.has(name)) return `The name ${shown(name)} can't be used twice in one object.`
      names?.add(name)
    } else if (/^[-\d]/.test(token) && !isPlain(token))
      return `The number ${token.slice(0, 40)} can't be stored exactly.`
    last = token
  }
  return
}

/** A number that is kept as it is written, zeros at its end apart, and that nothing else is written for. */
const isPlain = (token: string) => {
  const shortest = token.replace(/\.0+$|(\.\d*[1-9])0+$/, '$1')
  return (
    /^-?[\d.]+$/.test(token) && String(Number(token)) === shortest && Math.abs(Number(token)) <= Number.MAX_SAFE_INTEGER
  )
}

/** A name from outside, fit to be shown. */
export const shown = (name: string) => `\`${name.slice(0, 40).replace(/[^\w.$@-]/gu, '?')}\``

/** JSON in one form, whatever the order of names and the spacing it came in: the same value, the same text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`).join()}}`
}
