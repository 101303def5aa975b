import { formatDuration } from 'tillbridge/health'
import { html } from '../lib/html.js'
import { nameState } from '../lib/states.js'
import { formatNumber, language, plural, t } from '../lib/text.js'
import { formatInZones, formatMoment, formatZonedTime } from '../lib/time.js'

/** Formats an amount of the API with its currency: `AUD 1,234.50`. @param {string | null} amount @param {string} currency */
export const formatMoney = (amount, currency) => {
  if (amount === null || amount === undefined) return null
  // Shows at least the decimals of the currency, and all of the amount.
  const { minimumFractionDigits = 0 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  const digits = Math.max(minimumFractionDigits, amount.split('.')[1]?.length ?? 0)
  // A zero has no sign.
  const options = /** @type {const} */ ({
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: 'negative',
  })
  return new Intl.NumberFormat(language, { style: 'currency', currency, currencyDisplay: 'code', ...options })
    .format(/** @type {any} */ (amount))
    .replace(/\u00a0/g, ' ')
    .replace('-', '−')
}

/** Adds amounts of one currency. @param {string[]} amounts with the decimals of the currency */
export const sumAmounts = amounts => {
  const digits = Math.max(0, ...amounts.map(amount => amount.split('.')[1]?.length ?? 0))
  return amounts.reduce((total, amount) => total + Number(amount), 0).toFixed(digits)
}

/**
 * A column of amounts. The CSV has plain numbers, and the currency in its header.
 * @param {string} title @param {(row: any) => string | null} getAmount @param {string} currency @returns {import('./table.js').Column}
 */
export const amountColumn = (title, getAmount, currency) => ({
  title,
  name: `${title} (${currency})`,
  right: true,
  value: row => formatMoney(getAmount(row), currency),
  text: row => getAmount(row) ?? '',
})

/** @param {number | null | undefined} count */
const formatCount = count => (typeof count === 'number' ? formatNumber(count) : undefined)

/**
 * A column of counts with grouped digits.
 * @param {string} title @param {(row: any) => number | null | undefined} getCount @returns {import('./table.js').Column}
 */
export const countColumn = (title, getCount) => ({
  title,
  right: true,
  value: row => formatCount(getCount(row)),
  text: row => String(getCount(row) ?? ''),
})

/** Formats who sent a write: the account, and the API key if it had one. @param {{ username: string | null, apiKey?: string | null }} write */
export const formatWriter = ({ username, apiKey }) =>
  apiKey ? t('{username} (key {apiKey})', { username, apiKey }) : username

/** Renders a local time of the service, such as `2026-11-27 01:40:04`, with the zone of its season. @param {string | null | undefined} time */
export const renderLocalTime = time =>
  time && html`<time datetime=${time} title=${time}>${formatZonedTime(time)}</time>`

/** A time: relative within a day, otherwise the date in the service's zone. The tooltip has the exact time in several zones. @param {{ time: string | null | undefined }} props RFC 3339 */
export const Timestamp = ({ time }) =>
  time
    ? html`<time datetime=${time} title=${formatInZones(time)}>${formatMoment(time)}</time>`
    : html`<span class="none">never</span>`

const identifiers = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/**
 * A path that can wrap between its parts.
 * @param {{ path: string, short?: boolean }} props `short`: shows the last 8 characters of identifiers, and the full path in the tooltip
 */
export const Path = ({ path, short = false }) => {
  const shown = short ? path.replace(identifiers, id => `…${id.slice(-8)}`) : path
  return html`<code title=${shown === path ? undefined : path}>${shown.split(/(?<=.\/)/).map((part, i) => (i ? html`<wbr />${part}` : part))}</code>`
}

/** Formats a size: `12 bytes`, `3.4 MB`. @param {number} bytes */
export function formatSize(bytes) {
  if (bytes < 1_024) return plural(bytes, '{count} byte', '{count} bytes')
  const exponent = Math.min(3, Math.floor(Math.log(bytes) / Math.log(1_024)))
  const number = formatNumber(bytes / 1_024 ** exponent, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  return `${number} ${['KB', 'MB', 'GB'][exponent - 1]}`
}

/** Formats a duration with a decimal if it is short: `0.2 s`, `5 min`. @param {number} seconds */
export const formatSeconds = seconds =>
  seconds < 10 ? t('{count} s', { count: Math.round(seconds * 10) / 10 }) : formatDuration(seconds)

/** Removes the error code in front of the message of a failed run: `back_office_unavailable: …`. @param {string} detail */
export const withoutCode = detail => detail.replace(/^[a-z]+(_[a-z]+)+: /, '')

/** @typedef {'good' | 'warn' | 'bad' | 'idle'} Tone */

/** A state with a dot in its colour. @param {{ state: unknown, tone?: Tone | undefined }} props */
export const State = ({ state, tone = 'idle' }) => html`<span class=${`state ${tone}`}>${nameState(state)}</span>`

const tones = /** @type {const} */ ({ ok: 'good', degraded: 'warn', critical: 'bad' })

/** A state with the colour of its level. @param {import('tillbridge/health').Assessment} props */
export const Health = ({ state, level }) => html`<${State} state=${state} tone=${level ? tones[level] : 'idle'} />`

/** @typedef {[name: string, value: unknown, wide?: 'wide']} Fact `wide`: has room for a long value */

/** A list of named values, without empty ones. @param {{ facts: Fact[] }} props */
export const Facts = ({ facts }) => html`<dl class="facts-list">
  ${facts
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value, wide]) => html`<div key=${name} class=${wide}><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`
