import { ExportableTable } from '../../components/exportable-table.js'
import { html } from '../../lib/html.js'
import { plural, t } from '../../lib/text.js'
import { durationColumn } from './format.js'

/** @param {number} totalMs @returns {import('../../components/table.js').Column[]} */
const columns = totalMs => [
  { title: t('Step'), value: step => step.name, shrink: true },
  durationColumn(t('Start'), step => step.at),
  durationColumn(t('Duration'), step => step.milliseconds),
  { title: t('Outcome'), value: step => step.outcome, shrink: true },
  {
    title: t('Timeline'),
    value: step =>
      step.at !== undefined &&
      html`<svg class="span" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect x=${getPercentage(step.at, totalMs)} width=${Math.max(0.5, getPercentage(step.milliseconds, totalMs))} height="1" />
      </svg>`,
  },
]

/** @param {number} part @param {number} total */
const getPercentage = (part, total) => (total > 0 ? Math.min(100, (100 * part) / total) : 0)

/** The timing of a request: authentication and limits, calls of the back office, and the database. @param {{ request: any }} props */
export function Timings({ request }) {
  const { id, statements, databaseMilliseconds, milliseconds, steps, status, code } = request
  const rows = [
    { name: 'request', at: 0, milliseconds, outcome: code ? `${status} ${code}` : String(status) },
    ...steps.map((/** @type {any} */ step) =>
      step.name === 'admission' ? { ...step, name: t('authentication and limits') } : step,
    ),
    {
      name: t('database (at least one statement runs)'),
      milliseconds: databaseMilliseconds,
      outcome: plural(statements, '{count} statement', '{count} statements'),
    },
  ]
  return html`<${ExportableTable} title=${html`<h2>Timing</h2>`} caption="Timing" columns=${columns(milliseconds)} rows=${rows} file=${`request-${id}`} />`
}
