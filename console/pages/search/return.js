import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts, formatMoney, renderLocalTime } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { skuColumn } from './line-columns.js'
import { LoadedRecord } from './record.js'

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const columns = currency => [
  skuColumn,
  { title: 'Reason', value: line => line.reasonCode },
  { title: 'Notes', value: line => line.notes },
  { title: 'Quantity', right: true, value: line => line.quantity },
  amountColumn('Value', line => line.value, currency),
]

/** @param {{ id: string }} props */
export const Return = ({ id }) => html`<${LoadedRecord}
  path=${`/returns/${encodeURIComponent(id)}`}
  show=${(/** @type {any} */ record) => html`<section aria-label=${`Return ${record.returnNumber}`}>
    <h2>Return ${record.returnNumber}</h2>
    <div class="card">
      <${Facts}
        facts=${[
          ['Status', record.status],
          ['Order', html`<a href=${linkTo('search', 'order', record.orderId)}>${record.orderNumber}</a>`],
          [
            'Customer',
            record.customerId &&
              html`<a href=${linkTo('search', 'customer', record.customerId)}>${record.customerId}</a>`,
          ],
          ['Authorisation', record.returnAuthorisationNumber],
          ['Restocked', record.restock ? 'yes' : 'no'],
          ['Total', formatMoney(record.total, record.currency)],
          ['Created', renderLocalTime(record.createdAt)],
          ['Return ID', html`<code>${record.id}</code>`, 'wide'],
        ]}
      />
    </div>
    <${ExportableTable} title=${html`<h3>Lines</h3>`} caption="Lines of the return" columns=${columns(record.currency)} rows=${record.lines} file=${`return-${record.returnNumber}-lines`} />
  </section>`}
/>`
