// Contents of character classes (ECMA-262).
/** Control characters and line separators, which are rejected in requests and files. Data of a back office is accepted as it is. */
const controls = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029'
/** The control characters that multi-line text can't contain. */
const controlsOfLines = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f'
/** Characters that change the direction of writing. */
const directionMarks = '\\u202a-\\u202e\\u2066-\\u2069'
/** ASCII control characters, which no name, path or query can contain. Others are allowed, because an ID of the back office can have them. */
const controlsOfAscii = '\\u0000-\\u001f\\u007f'

/**
 * Characters that no font shows, such as a zero-width space or a variation selector, and the blank of Braille. They are part of words and emojis
 * in some scripts, so texts can contain them, but two identifiers must not differ in them only.
 */
const invisible = '\\p{Default_Ignorable_Code_Point}\\u2800'

/** Whitespace within a line: the whitespace of ECMA-262 without control characters and line separators. */
const spaces = ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'

const forbidden = `${controls}${directionMarks}`

/** Patterns for complete strings, with the flag `u`. */
export const line = `^[^${forbidden}]*$`
export const lines = `^[^${controlsOfLines}${directionMarks}]*$`
/** The first two parts have no character in common: otherwise, they would need quadratic time. */
export const notBlank = `^[${spaces}${invisible}]*[^${forbidden}\\s${invisible}][^${forbidden}]*$`
/** Without leading or trailing whitespace, and without invisible characters. */
export const notPadded = `^[^${forbidden}\\s${invisible}]([^${forbidden}${invisible}]*[^${forbidden}\\s${invisible}])?$`
/** Valid in a query and a path. */
export const noControls = `^[^${controlsOfAscii}]*$`

/** Typographic variants of the hyphen: hyphens, dashes, the minus sign, and their small and full-width forms. */
const hyphens = '\\u2010-\\u2015\\u2212\\ufe58\\ufe63\\uff0d'
const variantOfSpace = new RegExp(`[${spaces}]`, 'g')
const variantOfHyphen = new RegExp(`[${hyphens}]`, 'g')

/** The characters of a telephone number, including the variants that `toPlainCharacters` replaces. */
export const phoneCharacters = `0-9${spaces}+().\\/${hyphens}\\-`
/** Replaces typographic variants of spaces and hyphens, which copied telephone numbers and post codes have, with ASCII. */
export const toPlainCharacters = (text: string) => text.replace(variantOfSpace, ' ').replace(variantOfHyphen, '-')

/** A character that a text can't contain. */
export interface ForbiddenCharacter {
  /** The name of the character, such as `a line break`. */
  name: string
  /** Its place in the text, counted in characters from 1. */
  place: number
}

/** Returns the first character that matches. `pattern` has the flag `u`. */
export function findCharacter(text: string, pattern: RegExp): ForbiddenCharacter | undefined {
  const at = text.search(pattern)
  return at < 0
    ? undefined
    : { name: nameCharacter(text.codePointAt(at) ?? 0), place: [...text.slice(0, at)].length + 1 }
}

const createFinder = (characters: string) => {
  const pattern = new RegExp(`[${characters}]`)
  const patternWithSurrogates = new RegExp(`[${characters}\\p{Surrogate}]`, 'u')
  // Nearly all texts have none, so the faster pattern comes first.
  return (text: string) =>
    pattern.test(text) || !text.isWellFormed() ? findCharacter(text, patternWithSurrogates) : undefined
}
const [findInLine, findInLines] = [forbidden, `${controlsOfLines}${directionMarks}`].map(createFinder) as [
  Finder,
  Finder,
]
type Finder = ReturnType<typeof createFinder>

/** Returns the first character that no text can contain. `hasLines` allows line breaks and tabs. */
export const findForbiddenCharacter = (text: string, hasLines: boolean): ForbiddenCharacter | undefined =>
  hasLines ? findInLines(text) : findInLine(text)

const invisibleCharacter = new RegExp(`[${invisible}]`, 'u')
/** Returns the first invisible character. */
export const findInvisible = (text: string) => findCharacter(text, invisibleCharacter)

const variant = /[\ufb00-\ufb06\uff00-\uffef\u{1d400}-\u{1d7ff}]/u
/** Returns the first variant of a common character: a full-width or mathematical letter, or a Latin ligature. */
export const findVariant = (text: string) => findCharacter(text, variant)

const asciiControl = new RegExp(`[${controlsOfAscii}]`, 'u')
/** Returns the first ASCII control character. PostgreSQL can't store NUL at all. */
export const findControl = (text: string) => findCharacter(text, asciiControl)
/** True if a string has ASCII control characters. */
export const hasControls = (text: string) => asciiControl.test(text)

const [directionMark, control, whitespace] = [directionMarks, controls, '\\s'].map(
  set => new RegExp(`[${set}]`, 'u'),
) as [RegExp, RegExp, RegExp]

/** Returns the name of a character for a message. Characters that can't be seen are named by their code point. */
function nameCharacter(codePoint: number): string {
  const character = String.fromCodePoint(codePoint)
  const code = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
  if (/[\n-\r\u0085\u2028\u2029]/.test(character)) return 'a line break'
  if (character === '\t') return 'a tab'
  if (character === ' ') return 'a space'
  if (!character.isWellFormed()) return 'an incomplete character (a lone surrogate)'
  if (directionMark.test(character)) return `the character ${code}, which changes the direction of writing`
  if (control.test(character)) return `the control character ${code}`
  if (/\p{Cf}/u.test(character) || invisibleCharacter.test(character))
    return `the character ${code}, which is invisible`
  return whitespace.test(character) ? `the whitespace character ${code}` : `the character \`${character}\``
}
