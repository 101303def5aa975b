import htm from 'htm'
import { h } from 'preact'

/**
 * Markup as Preact has it, written as a template.
 * @type {(strings: TemplateStringsArray, ...values: unknown[]) => any}
 */
export const html = htm.bind(h)
