/**
 * A literal text of a template. `part`, `start` and `end` are its place in the strings between the values. `text` has single spaces.
 * `attribute` is undefined for a text between tags. `isFragment`: a value or an element that belongs to the same sentence is next to it.
 * @typedef {{ part: number, start: number, end: number, text: string, attribute: string | undefined, isFragment: boolean }} LiteralText
 */

/** Attributes that people see or hear. */
export const textAttributes =
  /^(label|busyLabel|aria-label|alt|title|caption|lead|hint|placeholder|confirm|addLabel|done|empty|remedy|state)$/

/** Elements whose content is the same in all languages. */
const codeElements = ['code', 'kbd', 'pre']

/** Elements that can't be part of a sentence. */
const blockElements = /^(input|select|textarea|img|br|p|div|ul|ol|li|dl|dt|dd|h\d|form|button|label|small)$/

const attributeToken = /\s*(?:(?<end>\/?>)|(?<attribute>[^\s=>/]+)="(?<value>[^"]*)"|[^\s>]+)/y
const closingTag = /\/[^>]*>/y
const tagName = /[\w-]*/y

/**
 * Finds the literal texts of an htm template: those that a browser translates, and that `scripts/texts/collect.ts` collects.
 * @param {readonly string[]} parts the strings between the values
 */
export function findTexts(parts) {
  /** @type {LiteralText[]} */
  const texts = []
  /** The open elements. A component has the name ''. @type {string[]} */
  const elements = []
  let isInTag = false
  let tag = ''
  /** The text that the next value or element can continue. @type {LiteralText | undefined} */
  let last
  /** True if the previous value or element can begin a sentence. */
  let isAfterInline = false

  const meetInline = () => {
    if (last) last.isFragment = true
    last = undefined
    isAfterInline = true
  }
  const meetBlock = () => {
    last = undefined
    isAfterInline = false
  }
  const meet = (/** @type {string} */ name) => (blockElements.test(name) ? meetBlock() : meetInline())

  /** Reads a token of a tag and returns its end. @param {string} string @param {number} part @param {number} at */
  const readAttribute = (string, part, at) => {
    attributeToken.lastIndex = at
    const { end, attribute = '', value } = attributeToken.exec(string)?.groups ?? {}
    const next = end !== undefined || attribute || attributeToken.lastIndex ? attributeToken.lastIndex : string.length
    if (end) {
      isInTag = false
      if (end === '>') {
        elements.push(tag)
        meetBlock()
      }
    } else if (value && textAttributes.test(attribute) && /\p{L}/u.test(value))
      texts.push({ part, start: next - 1 - value.length, end: next - 1, text: value, attribute, isFragment: false })
    return next
  }

  /** Reads a text and the beginning of the next tag, and returns its end. @param {string} string @param {number} part @param {number} at */
  const readContent = (string, part, at) => {
    const next = string.indexOf('<', at)
    const content = string.slice(at, next < 0 ? undefined : next)
    const trimmed = content.trim()
    if (/\p{L}/u.test(trimmed) && !codeElements.includes(elements.at(-1) ?? '')) {
      const start = at + content.indexOf(trimmed)
      const text = trimmed.replace(/\s+/g, ' ')
      last = { part, start, end: start + trimmed.length, text, attribute: undefined, isFragment: isAfterInline }
      texts.push(last)
      isAfterInline = false
    } else if (trimmed && last) last = undefined
    if (next < 0) return string.length
    closingTag.lastIndex = next + 1
    if (closingTag.test(string)) {
      const closed = elements.pop() ?? ''
      meetBlock()
      if (!blockElements.test(closed)) isAfterInline = true
      return closingTag.lastIndex
    }
    isInTag = true
    tagName.lastIndex = next + 1
    tag = tagName.exec(string)?.[0] ?? ''
    meet(tag)
    return tagName.lastIndex
  }

  parts.forEach((string, part) => {
    if (part > 0 && !isInTag) meetInline()
    for (let at = 0; at < string.length; )
      at = isInTag ? readAttribute(string, part, at) : readContent(string, part, at)
  })
  return texts
}
