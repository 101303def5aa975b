import { html } from '../../ground/html.js'
import { linkTo } from '../../ground/route.js'
import { Facts, money } from '../../parts/format.js'
import { Table } from '../../parts/table.js'
import { Loaded } from './record.js'

/** @param {string} currency @returns {import('../../parts/table.js').Column[]} */
const columns = currency => [
  { title: 'SKU', value: line => html`<a href=${linkTo('look-up', 'product', `sku:${line.sku}`)}>${line.sku}</a>` },
  { title: 'Reason', value: line => line.reasonCode },
  { title: 'Notes', value: line => line.notes },
  { title: 'Quantity', right: true, value: line => line.quantity },
  { title: 'Value', right: true, value: line => money(line.value, currency) },
]

/** @param {{ id: string }} props */
export const Return = ({ id }) => html`<${Loaded}
  path=${`/returns/${encodeURIComponent(id)}`}
  show=${(/** @type {any} */ found) => html`<section aria-label=${`Return ${found.returnNumber}`}>
    <h2>Return ${found.returnNumber}</h2>
    <div class="card">
      <${Facts}
        facts=${[
          ['Status', found.status],
          ['Of order', html`<a href=${linkTo('look-up', 'order', found.orderId)}>${found.orderNumber}</a>`],
          [
            'Customer',
            found.customerId &&
              html`<a href=${linkTo('look-up', 'customer', found.customerId)}>${found.customerId}</a>`,
          ],
          ['Authorisation', found.returnAuthorisationNumber],
          ['Back into stock', found.restock ? 'yes' : 'no'],
          ['Total', money(found.total, found.currency)],
          ['Made', found.createdAt],
          ['Id', html`<code>${found.id}</code>`],
        ]}
      />
    </div>
    <${Table} caption="Lines of the return" columns=${columns(found.currency)} rows=${found.lines} keyOf=${(/** @type {any} */ line) => line.id} />
  </section>`}
/>`
