import { useState } from 'preact/hooks'
import { ExportableTable } from '../../components/exportable-table.js'
import { Checkbox } from '../../components/field.js'
import { amountColumn, Facts, formatMoney, renderLocalTime, State } from '../../components/format.js'
import { RecordAction } from '../../components/record-action.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { skuColumn } from './line-columns.js'
import { describeRefund } from './order-actions.js'
import { Figures, hasCapability, LoadedRecord, loadCustomerName } from './record.js'
import { allUnits, hasUnits, listChosen, renderUnits } from './units.js'

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const columns = currency => [
  skuColumn,
  { title: t('Reason'), value: line => line.reasonCode },
  { title: t('Notes'), value: line => line.notes },
  { title: t('Quantity'), right: true, value: line => line.quantity },
  { title: t('Received'), right: true, value: line => line.received },
  amountColumn(t('Value'), line => line.value, currency),
]

/** @type {Record<string, 'good' | 'warn' | 'idle'>} */
const tones = { requested: 'warn', received: 'warn', refunded: 'good', cancelled: 'idle' }

/** @param {string} id @param {AbortSignal} signal */
async function loadReturn(id, signal) {
  const [{ data: record }, canFulfil] = await Promise.all([
    callApi(`/returns/${encodeURIComponent(id)}`, { signal }),
    hasCapability('fulfilment', signal),
  ])
  return { record, canFulfil, customer: record.customerId && (await loadCustomerName(record.customerId, signal)) }
}

/** A return with its lines, and the actions that its status allows. @param {{ id: string }} props */
export const Return = ({ id }) => html`<${LoadedRecord}
  path=${id}
  load=${(/** @type {AbortSignal} */ signal) => loadReturn(id, signal)}
  show=${(/** @type {any} */ data, /** @type {() => void} */ reload) => html`<${ReturnDetails} ...${data} reload=${reload} />`}
/>`

/** @param {{ record: any, canFulfil: boolean, customer: string | null, reload: () => void }} props */
function ReturnDetails({ record, canFulfil, customer, reload }) {
  const [message, setMessage] = useState('')
  const container = useKeptFocus()
  const sum = (/** @type {string} */ name) =>
    record.lines.reduce((/** @type {number} */ total, /** @type {any} */ line) => total + line[name], 0)
  const done = (/** @type {string} */ text) => {
    setMessage(text)
    reload()
  }
  return html`<section aria-label=${t('Return {returnNumber}', { returnNumber: record.returnNumber })}>
    <div class="record-head"><h2>${t('Return {returnNumber}', { returnNumber: record.returnNumber })}</h2><${State} state=${record.status} tone=${tones[record.status]} /></div>
    <${Figures}
      figures=${[
        [t('Value'), formatMoney(record.total, record.currency)],
        [t('Units'), sum('quantity')],
        [t('Received'), sum('received')],
      ]}
    />
    <div class="card" tabindex="-1" ref=${container}>
      <${Facts}
        facts=${[
          [t('Order'), html`<a href=${linkTo('search', 'order', record.orderId)}>${record.orderNumber}</a>`],
          [
            t('Customer'),
            record.customerId && html`<a href=${linkTo('search', 'customer', record.customerId)}>${customer}</a>`,
          ],
          [t('Authorisation'), record.returnAuthorisationNumber],
          [t('Restocked'), record.restock ? t('yes') : t('no')],
          [
            t('Exchange order'),
            record.exchangeOrderId &&
              html`<a href=${linkTo('search', 'order', record.exchangeOrderId)}>${record.exchangeOrderId}</a>`,
            'wide',
          ],
          [t('Created'), renderLocalTime(record.createdAt)],
          [t('Last updated'), renderLocalTime(record.updateTimeStamp)],
          [t('Return ID'), html`<code>${record.id}</code>`, 'wide'],
        ]}
      />
      <${ReturnActions} record=${record} canFulfil=${canFulfil} done=${done} />
      <p role="status" class="outcome">${message}</p>
    </div>
    <${ExportableTable} title=${html`<h3>Lines</h3>`} caption="Lines of the return" columns=${columns(record.currency)} rows=${record.lines} file=${`return-${record.returnNumber}-lines`} />
  </section>`
}

/** @param {{ record: any, canFulfil: boolean, done: (message: string) => void }} props */
function ReturnActions({ record, canFulfil, done }) {
  const path = `/returns/${encodeURIComponent(record.id)}`
  /** @type {import('./units.js').UnitLine[]} */
  const lines = record.lines
    .filter((/** @type {any} */ line) => line.received < line.quantity)
    .map((/** @type {any} */ line) => ({
      id: line.id,
      sku: line.sku,
      title: line.reasonCode,
      max: line.quantity - line.received,
    }))
  return html`<p class="choices">
    ${
      canFulfil &&
      record.status === 'requested' &&
      lines.length > 0 &&
      html`<${RecordAction}
        label="Receive" title=${t('Receive units of return {returnNumber}', { returnNumber: record.returnNumber })} role="maintainer" path=${`${path}/receive`} main
        initial=${{ units: allUnits(lines), restock: record.restock }}
        isReady=${hasUnits}
        toBody=${(/** @type {any} */ { units, restock }) => ({
          lines: listChosen(lines, units).map(({ id, quantity }) => ({ returnLineId: id, quantity })),
          restock,
        })}
        form=${(/** @type {any} */ form) => html`
          <p>Enter the units that have arrived. You can receive the others later.</p>
          ${renderUnits({ legend: t('Units that have arrived'), lines }, form)}
          <${Checkbox} label="Put the units back into stock" checked=${form.values.restock} change=${(/** @type {boolean} */ restock) => form.change({ restock })} />
        `}
        done=${(/** @type {any} */ { status }) => done(status === 'received' ? t('All units have been received.') : t('The units were received. Others are still to arrive.'))}
      />`
    }
    ${
      record.status === 'received' &&
      html`<${RecordAction}
        label="Refund" title=${t('Refund return {returnNumber}', { returnNumber: record.returnNumber })} role="maintainer" path=${`${path}/refund`} main
        form=${() => html`<p>${t("Marks the return as refunded: {amount}. Vouchers are refunded at once; you refund the rest through the payment gateway. This can't be undone.", { amount: formatMoney(record.total, record.currency) })}</p>`}
        done=${(/** @type {any} */ { refund }) => done(describeRefund(refund))}
      />`
    }
  </p>`
}
