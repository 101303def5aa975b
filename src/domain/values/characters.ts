// Contents of character classes (ECMA-262).
/** Control characters and line separators, which are rejected in requests and files. Data of a back office is accepted as it is. */
const controls = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029'
/** The control characters that multi-line text can't contain. */
const controlsOfLines = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f'
/** Characters that change the direction of writing. */
const directionMarks = '\\u202a-\\u202e\\u2066-\\u2069'
/** ASCII control characters, which no name, path or query can contain. Others are allowed, because an ID of the back office can have them. */
const controlsOfAscii = '\\u0000-\\u001f\\u007f'

/** Whitespace within a line: that of ECMA-262 without control characters and line separators. */
const spaces = ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'

const odd = `${controls}${directionMarks}`

/** Patterns for complete strings. */
export const line = `^[^${odd}]*$`
export const lines = `^[^${controlsOfLines}${directionMarks}]*$`
/** The first part matches only spaces: two neighbouring parts that match the same characters would need quadratic time. */
export const notBlank = `^[${spaces}]*[^${odd}\\s][^${odd}]*$`
/** Without leading or trailing whitespace. */
export const notPadded = `^[^${odd}\\s]([^${odd}]*[^${odd}\\s])?$`
/** Valid in a query and a path. */
export const noControls = `^[^${controlsOfAscii}]*$`

const createMatcher = (characters: string) => {
  const pattern = new RegExp(`[${characters}]`)
  return (text: string) => pattern.test(text)
}
const [hasControl, hasControlInLines, hasDirectionMark] = [
  createMatcher(controls),
  createMatcher(controlsOfLines),
  createMatcher(directionMarks),
]

/** True if a string has ASCII control characters. PostgreSQL can't store NUL at all. */
export const hasControls = createMatcher(controlsOfAscii)

/** Returns a description of the first forbidden character, or undefined if the text has none. */
export function findForbiddenCharacter(text: string, hasLines: boolean): string | undefined {
  if (!text.isWellFormed()) return 'an incomplete character (a lone surrogate)'
  if (hasLines ? hasControlInLines(text) : hasControl(text)) return 'a control character'
  return hasDirectionMark(text) ? 'a character that changes the direction of writing' : undefined
}
