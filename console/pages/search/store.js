import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Field, onSubmit } from '../../components/field.js'
import { countColumn, Facts } from '../../components/format.js'
import { List } from '../../components/list.js'
import { RecordEdit } from '../../components/record-edit.js'
import { useAction } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatNumber, plural, rich, t } from '../../lib/text.js'
import { skuColumn } from './line-columns.js'
import { Figures, formatAddress, LoadedRecord } from './record.js'

/** @type {Record<string, string>} */
const kinds = { store: t('Store'), warehouse: t('Warehouse'), web: t('Web store') }

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  skuColumn,
  countColumn(t('On hand'), level => level.freeStock),
  countColumn(t('Buffer'), level => level.buffer),
  countColumn(t('Available'), level => level.sellable),
  { title: t('Last updated'), value: level => level.updateTimeStamp, isTime: true, shrink: true },
]

/** @param {string} number @param {AbortSignal} signal */
async function loadStore(number, signal) {
  const path = `/stores/${encodeURIComponent(number)}`
  const [{ data: store }, { data: summary }] = await Promise.all([
    callApi(path, { signal }),
    callApi(`/console${path}`, { signal }),
  ])
  return { store, summary }
}

/** A store with its figures, its buffer and its stock. @param {{ id: string }} props a store number */
export const Store = ({ id }) => html`<${LoadedRecord}
  path=${id}
  load=${(/** @type {AbortSignal} */ signal) => loadStore(id, signal)}
  show=${(/** @type {any} */ data, /** @type {() => void} */ reload) => html`<${StoreDetails} ...${data} reload=${reload} />`}
/>`

/** @param {{ store: any, summary: any, reload: () => void }} props */
function StoreDetails({ store, summary, reload }) {
  const { storeNumber, inventoryBuffer } = store
  const format = (/** @type {number} */ count) => formatNumber(count)
  return html`<section aria-label=${t('Store {storeNumber}', { storeNumber })}>
    <h2>${storeNumber} ${store.name}</h2>
    <${Figures}
      figures=${[
        [t('Units on hand'), format(summary.onHand)],
        [t('Available'), format(summary.available)],
        [t('SKUs in stock'), t('{part} of {total}', { part: summary.inStock, total: summary.skus })],
        [t('Low stock'), plural(summary.low, '{count} SKU', '{count} SKUs')],
      ]}
    />
    <div class="card">
      <${Facts}
        facts=${[
          [t('Type'), kinds[store.kind] ?? store.kind],
          [t('Code'), store.code],
          [t('Email'), store.email, 'wide'],
          [t('Address'), formatAddress(store.address), 'wide'],
          [t('E-commerce location'), store.ecommerceLocationId],
          [
            t('Buffer'),
            inventoryBuffer === null
              ? t('that of the service')
              : plural(inventoryBuffer, '{count} unit of each SKU', '{count} units of each SKU'),
          ],
          [t('Store ID'), html`<code>${store.storeId}</code>`],
        ]}
      />
      <p class="choices"><${RecordEdit} label="Change buffer" role="admin" path=${`/stores/${encodeURIComponent(storeNumber)}`} done=${reload} form=${BufferForm} /></p>
    </div>
    <${List}
      path=${`/inventory?store_number=${encodeURIComponent(storeNumber)}`}
      tools=${html`<h3>Stock</h3>`}
      caption=${t('Stock of store {storeNumber}', { storeNumber })}
      columns=${columns}
      file=${`stock-store-${storeNumber}`}
      empty=${rich('No stock of this store. It is loaded by the <link>stock sync</link> or an import.', { link: content => html`<a href=${linkTo('syncs', 'stock')}>${content}</a>` })}
      version=${inventoryBuffer ?? -1}
    />
  </section>`
}

/** @param {{ record: any, save: (body: object) => Promise<void> }} props */
function BufferForm({ record, save }) {
  const [buffer, setBuffer] = useState(String(record.inventoryBuffer ?? ''))
  const { busy, error, run } = useAction()
  const send = onSubmit(() => run(() => save({ inventoryBuffer: buffer === '' ? null : Number(buffer) })))
  const fieldErrors = /** @type {any} */ (error)?.problem?.errors
  const fieldError = fieldErrors?.find((/** @type {any} */ { pointer }) => pointer === '/inventoryBuffer')?.detail
  return html`<form onSubmit=${send}>
    <p>Units of each SKU that are not sold online. The available units change at once.</p>
    <${Field} label="Buffer" type="number" min="0" step="1" hint="Empty: the buffer of the service applies." value=${buffer} change=${setBuffer} error=${fieldError} />
    <${SubmitButton} label="Save buffer" busyLabel="Saving…" busy=${busy} error=${fieldError ? undefined : error} />
  </form>`
}
