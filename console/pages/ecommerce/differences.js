import { ExportableTable } from '../../components/exportable-table.js'
import { countColumn } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { rich, t } from '../../lib/text.js'

/** The last part of a platform's global ID. @param {string} id */
export const shortenId = id => html`<code title=${id}>${id.split('/').at(-1)}</code>`

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  { title: t('SKU'), value: row => row.sku },
  { title: t('Location'), value: row => shortenId(row.locationId), text: row => row.locationId },
  countColumn(t('On the platform'), row => row.knownOnHand),
  countColumn(t('Would be set to'), row => row.desiredOnHand),
]

/** The changes of the next push, by the newest comparison. @param {{ reconciliation: any }} props */
export function Differences({ reconciliation }) {
  if (reconciliation?.state !== 'completed')
    return html`<div class="empty">${reconciliation?.state === 'failed' ? t('The last comparison failed: {error}', { error: reconciliation.error }) : t('No comparison yet. Press Compare now, then refresh.')}</div>`
  const { rising, falling, fallingToZero, differences } = reconciliation
  const total = rising + falling + fallingToZero
  return html`<p>
      ${
        total
          ? rich(
              'Levels that the push would raise: <b>{rising}</b>, lower: <b>{falling}</b>, set to zero: <b>{zeroed}</b>',
              { rising, falling, zeroed: fallingToZero },
            )
          : t('The push would change nothing.')
      }
    </p>
    ${
      differences.length > 0 &&
      html`<${ExportableTable} title=${html`<h3>Largest differences</h3>`} caption="Largest differences" columns=${columns} rows=${differences} getKey=${(/** @type {any} */ row) => `${row.itemId} ${row.locationId}`} file="stock-differences" />`
    }`
}
