import htm from 'htm'
import { h } from 'preact'
import { findTexts } from './template.js'
import { language, translateParts } from './text.js'

/** @type {(parts: readonly string[], ...values: unknown[]) => any} */
const build = /** @type {any} */ (htm.bind(h))

/** The translated parts of each template. @type {WeakMap<TemplateStringsArray, readonly string[]>} */
const translations = new WeakMap()

/** @param {TemplateStringsArray} parts */
function translateTemplate(parts) {
  const known = translations.get(parts)
  if (known) return known
  const translated = translateParts(parts, findTexts(parts))
  translations.set(parts, translated)
  return translated
}

/**
 * Builds Preact elements from a template literal. Its literal texts are translated: those between tags, and those of attributes such as
 * `label` and `title`. A sentence with values or elements must be a `t`, a `plural` or a `rich`.
 * @type {(parts: TemplateStringsArray, ...values: unknown[]) => any}
 */
export const html = language === 'en' ? build : (parts, ...values) => build(translateTemplate(parts), ...values)
