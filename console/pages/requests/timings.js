import { ExportableTable } from '../../components/exportable-table.js'
import { html } from '../../lib/html.js'
import { durationColumn } from './format.js'

/** @param {number} whole milliseconds that the request took @returns {import('../../components/table.js').Column[]} */
const columns = whole => [
  { title: 'What', value: step => step.what, shrink: true },
  durationColumn('Began', step => step.at),
  durationColumn('Took', step => step.milliseconds),
  { title: 'Outcome', value: step => step.outcome, shrink: true },
  {
    title: 'When',
    value: step =>
      step.at !== undefined &&
      html`<svg class="span" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect x=${getPercentage(step.at, whole)} width=${Math.max(0.5, getPercentage(step.milliseconds, whole))} height="1" />
      </svg>`,
  },
]

/** A part of the whole, in hundredths. @param {number} part @param {number} whole */
const getPercentage = (part, whole) => (whole > 0 ? Math.min(100, (100 * part) / whole) : 0)

/** The gate, calls of the back office and the database: when each began, and how long it took. @param {{ request: any }} props */
export function Timings({ request }) {
  const { id, statements, databaseMilliseconds, milliseconds, steps, status, code } = request
  const rows = [
    { what: 'the whole request', at: 0, milliseconds, outcome: code ? `${status} ${code}` : String(status) },
    ...steps,
    {
      what: 'database, in all',
      milliseconds: databaseMilliseconds,
      outcome: statements === 1 ? '1 statement' : `${statements} statements`,
    },
  ]
  return html`<${ExportableTable} title=${html`<h2>Where the time went</h2>`} caption="Where the time went" columns=${columns(milliseconds)} rows=${rows} file=${`request-${id}`} />`
}
