import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts, formatMoney } from '../../components/format.js'
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
  show=${(/** @type {any} */ found) => html`<section aria-label=${`Return ${found.returnNumber}`}>
    <h2>Return ${found.returnNumber}</h2>
    <div class="card">
      <${Facts}
        facts=${[
          ['Status', found.status],
          ['Of order', html`<a href=${linkTo('search', 'order', found.orderId)}>${found.orderNumber}</a>`],
          [
            'Customer',
            found.customerId && html`<a href=${linkTo('search', 'customer', found.customerId)}>${found.customerId}</a>`,
          ],
          ['Authorisation', found.returnAuthorisationNumber],
          ['Back into stock', found.restock ? 'yes' : 'no'],
          ['Total', formatMoney(found.total, found.currency)],
          ['Made', found.createdAt],
          ['Id', html`<code>${found.id}</code>`, 'wide'],
        ]}
      />
    </div>
    <${ExportableTable} title=${html`<h3>Lines</h3>`} caption="Lines of the return" columns=${columns(found.currency)} rows=${found.lines} file=${`return-${found.returnNumber}-lines`} />
  </section>`}
/>`
