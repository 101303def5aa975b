import { html } from '../lib/html.js'

/** An amount with its currency: the API's text, with digits grouped. @param {string | null} amount @param {string} currency */
export const formatMoney = (amount, currency) => {
  if (amount === null || amount === undefined) return null
  // The browser's own digits are those that are customary, and round what is finer.
  const digits = amount.split('.')[1]?.length ?? 0
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code', ...fraction })
    .format(/** @type {any} */ (amount))
    .replace(/\u00a0/g, ' ')
    .replace('-', '−')
}

/**
 * A column of amounts, which CSV has as numbers and their currency in the header.
 * @param {string} title @param {(row: any) => string | null} of @param {string} currency @returns {import('./table.js').Column}
 */
export const amountColumn = (title, of, currency) => ({
  title,
  name: `${title} (${currency})`,
  right: true,
  value: row => formatMoney(of(row), currency),
  text: row => of(row) ?? '',
})

/**
 * A column of counts, their digits grouped.
 * @param {string} title @param {(row: any) => number | null | undefined} of @returns {import('./table.js').Column}
 */
export const countColumn = (title, of) => ({
  title,
  right: true,
  value: row => of(row)?.toLocaleString('en'),
  text: row => String(of(row) ?? ''),
})

/** How long ago a moment was, in words. @param {string} moment RFC 3339 */
export function formatAge(moment) {
  return `${formatDuration((Date.now() - Date.parse(moment)) / 1_000)} ago`
}

/** A number of seconds in words. @param {number} seconds */
export function formatDuration(seconds) {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 90) return `${whole} s`
  if (whole < 5_400) return `${Math.round(whole / 60)} min`
  if (whole < 129_600) return `${Math.round(whole / 3_600)} h`
  return `${Math.round(whole / 86_400)} days`
}

/** A moment by the reader's clock, its exact text on hovering. @param {{ moment: string | null | undefined }} props RFC 3339 */
export const Timestamp = ({ moment }) =>
  moment
    ? html`<time datetime=${moment} title=${new Date(moment).toLocaleString()}>${formatAge(moment)}</time>`
    : html`<span class="none">never</span>`

const identifiers = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/**
 * A path, which is broken between its parts where it has to be.
 * @param {{ path: string, short?: boolean }} props `short`: the ends of identifiers, in tables; all of it on hovering
 */
export const Path = ({ path, short = false }) => {
  const shown = short ? path.replace(identifiers, id => `…${id.slice(-8)}`) : path
  return html`<code title=${shown === path ? undefined : path}>${shown.split(/(?<=.\/)/).map((part, i) => (i ? html`<wbr />${part}` : part))}</code>`
}

/** A state as a word with a dot in its colour. @param {{ state: string, tone?: 'good' | 'warn' | 'bad' | 'idle' | undefined }} props */
export const State = ({ state, tone = 'idle' }) => html`<span class=${`state ${tone}`}>${state}</span>`

/** @typedef {[name: string, value: unknown, wide?: 'wide']} Fact `wide`: it has room for a long one */

/** Facts, name by name; those without a value are left out. @param {{ facts: Fact[] }} props */
export const Facts = ({ facts }) => html`<dl class="facts-list">
  ${facts
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value, wide]) => html`<div key=${name} class=${wide}><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`
