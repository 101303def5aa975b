import { Choice, Field } from '../../components/field.js'
import { formatMoney } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { RecordAction } from '../../components/record-action.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'
import { allUnits, hasUnits, listChosen, renderUnits } from './units.js'

const role = 'maintainer'

/** Returns the number of units of a line that are neither shipped nor cancelled. @param {any} line */
export const countOpen = ({ quantity, shipped, cancelled }) => quantity - shipped - cancelled

/** @param {any} line @param {number} max @returns {import('./units.js').UnitLine} */
const toUnitLine = ({ id, sku, productName, colourName, sizeCode }, max) => ({
  id,
  sku,
  title: [productName, colourName, sizeCode].filter(Boolean).join(' · '),
  max,
})

/** Describes what a refund gives back, and what is left to do. @param {any} refund */
export function describeRefund({ total, payments, vouchers, currency }) {
  const parts = vouchers.map((/** @type {any} */ { number, amount }) =>
    t('{amount} went back to voucher {number}', { amount: formatMoney(amount, currency), number }),
  )
  if (Number(payments))
    parts.push(t('pay back {amount} through the payment gateway', { amount: formatMoney(payments, currency) }))
  const refunded = formatMoney(total, currency)
  return parts.length
    ? t('Refund of {amount}: {parts}.', { amount: refunded, parts: parts.join(', ') })
    : t('Refund of {amount}.', { amount: refunded })
}

/**
 * The actions that the state of an order allows.
 * @param {{ order: any, canFulfil: boolean, done: (message: string) => void }} props `done` gets a message about the result
 */
export function OrderActions({ order, canFulfil, done }) {
  const path = `/orders/${encodeURIComponent(order.id)}`
  const openLines = order.lines
    .filter((/** @type {any} */ line) => countOpen(line) > 0)
    .map((/** @type {any} */ line) => toUnitLine(line, countOpen(line)))
  const isOpen = canFulfil && openLines.length > 0
  const hasReturnable = order.lines.some((/** @type {any} */ line) => line.shipped > line.returned)
  const isPickup = Boolean(order.pickupStoreNumber)
  const toLines = (/** @type {Record<string, string>} */ units) =>
    listChosen(openLines, units).map(({ id, quantity }) => ({ orderLineId: id, quantity }))
  return html`<p class="choices">
    ${
      isOpen &&
      !isPickup &&
      html`<${RecordAction}
        label="Ship" title=${t('Ship order {orderNumber}', { orderNumber: order.orderNumber })} role=${role} path=${`${path}/shipments`} main
        initial=${{ units: allUnits(openLines), carrier: '', trackingNumber: '', trackingUrl: '' }}
        isReady=${hasUnits}
        toBody=${(/** @type {any} */ { units, ...tracking }) => ({
          lines: toLines(units),
          ...Object.fromEntries(Object.entries(tracking).filter(([, value]) => value !== '')),
        })}
        form=${(/** @type {any} */ form) => html`
          <p>The units leave the stock, and the sale is recorded.</p>
          ${renderUnits({ legend: t('Units to ship'), lines: openLines }, form)}
          ${trackingFields.map(([name, label, maxLength]) => html`<${Field} key=${name} label=${label} maxlength=${maxLength} autocomplete="off" value=${form.values[name]} change=${(/** @type {string} */ value) => form.change({ [name]: value })} error=${form.getError(`/${name}`)} />`)}
        `}
        done=${() => done(t('The shipment was recorded.'))}
      />`
    }
    ${
      isOpen &&
      isPickup &&
      !order.readyAt &&
      html`<${RecordAction}
        label="Ready for collection" role=${role} path=${`${path}/ready`} main
        form=${() => html`<p>${t('The shopper can collect the order at store {store}.', { store: order.pickupStoreNumber })}</p>`}
        done=${() => done(t('The order is ready for collection.'))}
      />`
    }
    ${
      isOpen &&
      isPickup &&
      order.readyAt &&
      !order.collectedAt &&
      html`<${RecordAction}
        label="Collected" role=${role} path=${`${path}/collected`} main
        form=${() => html`<p>${t('The open units leave the stock of store {store}, and the sale is recorded.', { store: order.pickupStoreNumber })}</p>`}
        done=${() => done(t('The order was collected.'))}
      />`
    }
    ${hasReturnable && html`<${ReturnAction} order=${order} path=${path} done=${done} />`}
    ${
      isOpen &&
      html`<${RecordAction}
        label="Cancel units" title=${t('Cancel units of order {orderNumber}', { orderNumber: order.orderNumber })} role=${role} path=${`${path}/cancel`} danger
        initial=${{ units: allUnits(openLines) }}
        isReady=${hasUnits}
        toBody=${(/** @type {any} */ { units }) => ({ lines: toLines(units) })}
        form=${(/** @type {any} */ form) => html`
          <p>The units can be sold again. Vouchers are refunded at once; you refund the rest through the payment gateway. This can't be undone.</p>
          ${renderUnits({ legend: t('Units to cancel'), lines: openLines }, form)}
        `}
        done=${(/** @type {any} */ { refund }) => done(t('The units were cancelled. {refund}', { refund: describeRefund(refund) }))}
      />`
    }
  </p>`
}

/** @type {[name: string, label: string, maxLength: number][]} */
const trackingFields = [
  ['carrier', t('Carrier'), 100],
  ['trackingNumber', t('Tracking number'), 100],
  ['trackingUrl', t('Tracking link'), 500],
]

/** The reasons that the service has. @param {{ value: string, change: (code: string) => void, error: string | undefined }} props */
function ReasonChoice({ value, change, error: fieldError }) {
  const { data, error } = useLoad(signal => callApi('/return-reasons', { signal }), [])
  const reasons = /** @type {{ code: string, name: string }[]} */ (data?.data ?? [])
  return html`${error && html`<${Problem} error=${error} />`}
    <${Choice} label="Reason" error=${fieldError} value=${value} change=${change} options=${[['', t('Default reason')], ...reasons.map(({ code, name }) => [code, name])]} />`
}

/** @param {{ order: any, path: string, done: (message: string) => void }} props */
function ReturnAction({ order, path, done }) {
  const lines = toReturnLines(order.lines)
  return html`<${RecordAction}
    label="Create return" title=${t('Return units of order {orderNumber}', { orderNumber: order.orderNumber })} role=${role} path=${`${path}/returns`}
    initial=${{ units: Object.fromEntries(lines.map(({ id }) => [id, '0'])), reasonCode: '', notes: '' }}
    isReady=${hasUnits}
    toBody=${(/** @type {any} */ { units, reasonCode, notes }) => ({
      lines: listChosen(lines, units).map(({ sku, quantity }) => ({
        sku,
        quantity,
        ...(reasonCode && { reasonCode }),
        ...(notes && { notes }),
      })),
    })}
    form=${(/** @type {any} */ form) => html`
      <p>The return is requested. Its units go back into stock when you receive them, and then you can refund it.</p>
      ${renderUnits({ legend: t('Units to return'), lines }, form)}
      <${ReasonChoice} error=${listChosen(lines, form.sent.units)
        .map((_, i) => form.getError(`/lines/${i}/reasonCode`))
        .find(
          Boolean,
        )} value=${form.values.reasonCode} change=${(/** @type {string} */ reasonCode) => form.change({ reasonCode })} />
      <${Field} label="Notes" maxlength="1000" autocomplete="off" value=${form.values.notes} change=${(/** @type {string} */ notes) => form.change({ notes })} />
    `}
    done=${(/** @type {any} */ { returnNumber }) => done(t('Return {returnNumber} was created.', { returnNumber }))}
  />`
}

/** Returns the returnable units by SKU, because a return names SKUs. @param {any[]} orderLines @returns {import('./units.js').UnitLine[]} */
function toReturnLines(orderLines) {
  const bySku = Map.groupBy(
    orderLines.filter(line => line.shipped > line.returned),
    line => line.sku,
  )
  return [...bySku].map(([sku, lines]) => ({
    ...toUnitLine(
      lines[0],
      lines.reduce((sum, line) => sum + line.shipped - line.returned, 0),
    ),
    id: sku,
  }))
}
