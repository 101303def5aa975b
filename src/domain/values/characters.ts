// Characters in classes as a pattern writes them (ECMA-262).
/** Those of control, and what breaks a line: no text of a request or a file holds them. What is pulled is taken as others have it. */
const controls = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029'
/** Those of a text of several lines. */
const controlsOfLines = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f'
/** Marks that turn the direction of writing. */
const turns = '\\u202a-\\u202e\\u2066-\\u2069'
/** Those that no name, path or query may hold. Not more: a record that was pulled may have others in its identifier, and has to be found by it. */
const controlsOfAscii = '\\u0000-\\u001f\\u007f'

/** Blanks that a line can contain: the whitespace of ECMA-262 without controls and line ends. */
const blanks = ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'

const odd = `${controls}${turns}`

/** Patterns of whole texts. */
export const line = `^[^${odd}]*$`
export const lines = `^[^${controlsOfLines}${turns}]*$`
/** Begins with the blanks alone: two neighbours that take the same characters would take quadratic time. */
export const notBlank = `^[${blanks}]*[^${odd}\\s][^${odd}]*$`
/** With neither space in front nor behind. */
export const notPadded = `^[^${odd}\\s]([^${odd}]*[^${odd}\\s])?$`
/** What can stand in a query, and in a path. */
export const noControls = `^[^${controlsOfAscii}]*$`

const isOf = (characters: string) => {
  const one = new RegExp(`[${characters}]`)
  return (text: string) => one.test(text)
}
const [hasControl, hasControlOfLines, hasTurn] = [isOf(controls), isOf(controlsOfLines), isOf(turns)]

/** Whether a text holds control characters of ASCII, which no name, path or query may: PostgreSQL does not even store NUL. */
export const hasControls = isOf(controlsOfAscii)

/** What a text, of one line or of several, holds that none may; undefined where it holds nothing of the kind. */
export function oddityIn(text: string, hasLines: boolean): string | undefined {
  if (!text.isWellFormed()) return 'an incomplete character (a lone surrogate)'
  if (hasLines ? hasControlOfLines(text) : hasControl(text)) return 'a control character'
  return hasTurn(text) ? 'a character that changes the direction of writing' : undefined
}
