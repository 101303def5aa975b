import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'

/** @param {any} level */
const explainSellable = ({ freeStock, buffer, sellable }) =>
  `${freeStock} on hand − ${buffer} buffer${freeStock - buffer < 0 && sellable === 0 ? ', at least 0' : ''}`

/** @type {import('../../components/table.js').Column[]} */
const stockColumns = [
  { title: 'Store', value: level => `${level.storeNumber} ${level.storeName}` },
  { title: 'On hand', right: true, value: level => level.freeStock },
  { title: 'Buffer', right: true, value: level => level.buffer },
  {
    title: 'Available',
    right: true,
    value: level => html`<b>${level.sellable}</b>`,
    text: level => String(level.sellable),
  },
  { title: 'Calculation', value: explainSellable, wide: true },
  { title: 'Last updated', value: level => level.updateTimeStamp, shrink: true },
]

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const skuColumns = currency => [
  {
    title: 'SKU',
    value: row => html`<a href=${linkTo('search', 'product', `sku:${row.ecommerceSku}`)}>${row.ecommerceSku}</a>`,
    text: row => row.ecommerceSku,
  },
  { title: 'Colour', value: row => row.colour },
  { title: 'Size', value: row => row.sizeCode },
  { title: 'Barcode', value: row => row.barcode },
  { title: 'Markdown', value: row => row.markdownStatus },
  { title: 'Backorder', value: row => (row.allowBackorder ? 'allowed' : '') },
  { title: 'Preorder from', value: row => row.preorderDate },
  amountColumn('Original', row => row.originalPrice, currency),
  amountColumn('Price', row => row.price, currency),
]

/** A product with its SKUs, or one SKU with its stock. @param {{ id: string }} props a product ID, or `sku:` and a SKU */
export function Product({ id }) {
  const sku = id.startsWith('sku:') ? id.slice(4) : undefined
  const load = async (/** @type {AbortSignal} */ signal) => {
    if (sku === undefined) return (await callApi(`/products/${encodeURIComponent(id)}`, { signal })).data
    return (await callApi(`/products?sku=${encodeURIComponent(sku)}`, { signal })).data[0] ?? null
  }
  const { data, error } = useLoad(load, [id])
  if (error) return html`<${Problem} error=${error} />`
  if (data === undefined) return html`<p class="opening" role="status">Loading…</p>`
  const rows = (data?.colours ?? []).flatMap((/** @type {any} */ colour) =>
    colour.sizes.map((/** @type {any} */ size) =>
      Object.assign({ colour: colour.name ?? colour.code, markdownStatus: colour.markdownStatus }, size),
    ),
  )
  return html`<section aria-label="Product">
    ${data === null ? html`<h2>${sku}</h2><p class="note">No product has this SKU.</p>` : html`<h2>${data.name}</h2>`}
    ${
      data &&
      html`<div class="card"><${Facts}
          facts=${[
            ['Code', data.productCode],
            ['Description', data.description, 'wide'],
            ['Size range', data.sizeRange],
            ['Last updated', data.updateTimeStamp],
            ['Product ID', html`<code>${data.id}</code>`],
          ]}
        /></div>`
    }
    ${sku !== undefined && html`<${Stock} sku=${sku} />`}
    ${rows.length > 0 && html`<${ExportableTable} title=${html`<h3>SKUs</h3>`} caption="SKUs of the product" columns=${skuColumns(data.currency)} rows=${rows} getKey=${(/** @type {any} */ row) => row.skuId} file=${`product-${data.productCode}-skus`} />`}
  </section>`
}

/** @param {{ sku: string }} props */
const Stock = ({ sku }) => html`<${List}
    path=${`/inventory?sku=${encodeURIComponent(sku)}`}
    tools=${html`<h3>Stock of ${sku}</h3>`}
    caption=${`Stock of ${sku} by store`}
    columns=${stockColumns}
    file=${`stock-${sku}`}
    empty=${html`No stock data for this SKU. It is loaded by the <a href=${linkTo('syncs', 'stock')}>stock sync</a> or an import.`}
  />`
