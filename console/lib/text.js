import { h } from 'preact'

// The texts that people read. A text is its own key: English needs no catalogue, and other languages have one in `console/texts/`.
// Pattern: gettext. Reasons: contributing/decisions/0049.

/** A translation, or its form for each plural category of `Intl.PluralRules`. @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Translation */

/** The language that the server chose for the page. Tests without a page read English. */
export const language = globalThis.document?.documentElement.lang || 'en'

/** The locale of dates. English ones have the day in front of the month. */
export const dateLocale = language === 'en' ? 'en-GB' : language

/** The translations by English text. Modules that import this one wait for them, so that they can use texts in constants. @type {Record<string, Translation>} */
const catalogue = language === 'en' ? {} : (await import(`../texts/${language}.js`)).texts

const pluralRules = new Intl.PluralRules(language)

/** Formats a number with grouped digits. @param {number} number @param {Intl.NumberFormatOptions} [options] */
export const formatNumber = (number, options) => number.toLocaleString(language, options)

/** Returns the translation of an English text, or the text if it has none. @param {string} english @param {unknown} [count] chooses the plural form */
function translate(english, count) {
  const translation = Object.hasOwn(catalogue, english) ? catalogue[english] : english
  if (typeof translation === 'object')
    return translation[pluralRules.select(Number(count))] ?? translation.other ?? english
  return translation ?? english
}

/** Values by name. Numbers are formatted. @typedef {Record<string, unknown>} Values */

/** Values that can be elements, or functions that build an element around a content. @typedef {Record<string, string | number | null | undefined | any[] | import('preact').VNode | ((content: any[]) => any)>} RichValues */

/** @param {unknown} value */
const format = value => (typeof value === 'number' ? formatNumber(value) : value)

/** Inserts values at `{name}`. @param {string} message @param {Values} values */
const insert = (message, values) =>
  message.replace(/\{(\w+)\}/g, (placeholder, name) => (name in values ? String(format(values[name])) : placeholder))

/** Returns a text in the page's language: `t('Role of {username}', { username })`. @param {string} english a literal @param {Values} [values] */
export const t = (english, values = {}) => insert(translate(english, values.count), values)

/**
 * Returns a text that depends on a number, which is its value `count`: `plural(3, '{count} change', '{count} changes')`.
 * @param {number} count @param {string} one @param {string} other @param {Values} [values]
 */
export const plural = (count, one, other, values) =>
  insert(language === 'en' && count === 1 ? one : translate(other, count), { count, ...values })

/** Elements that a text can contain without a function. */
const elements = ['b', 'code', 'small']

/**
 * Returns a text with elements as children of an element: `rich('See <link>Team</link>.', { link: team => html`<a href="…">${team}</a>` })`.
 * Values can be elements too. `<b>`, `<code>` and `<small>` need no function.
 * @param {string} english a literal @param {RichValues} [values]
 * @returns {any[]}
 */
export function rich(english, values = {}) {
  const parts = translate(english, values.count).split(/<(\w+)>(.*?)<\/\1>/)
  // After each text come the name and the content of an element.
  return parts.flatMap((part, i) => {
    if (i % 3 === 0) return insertElements(part, values)
    if (i % 3 === 1) return []
    const name = parts[i - 1] ?? ''
    const children = insertElements(part, values)
    const render = values[name]
    return [
      typeof render === 'function' ? render(children) : elements.includes(name) ? h(name, null, ...children) : children,
    ]
  })
}

/** @param {string} message @param {Values} values @returns {any[]} */
const insertElements = (message, values) =>
  message.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? format(values[part]) : part))

/** Returns the literal parts of a template with their texts translated. @param {readonly string[]} parts @param {import('./template.js').LiteralText[]} texts */
export function translateParts(parts, texts) {
  const translated = [...parts]
  // From the end, so that the places of earlier texts stay valid.
  for (const { part, start, end, text: english } of texts.toReversed()) {
    const string = translated[part] ?? ''
    translated[part] = string.slice(0, start) + translate(english) + string.slice(end)
  }
  return translated
}
