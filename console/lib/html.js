import htm from 'htm'
import { h } from 'preact'

/**
 * Builds Preact elements from a template literal.
 * @type {(strings: TemplateStringsArray, ...values: unknown[]) => any}
 */
export const html = htm.bind(h)
