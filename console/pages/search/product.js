import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'

/** Why a SKU can be sold so often at a store. @param {any} level */
const explainSellable = ({ freeStock, buffer, sellable }) =>
  `${freeStock} free − ${buffer} held back${freeStock - buffer < 0 && sellable === 0 ? ', never below 0' : ''}`

/** @type {import('../../components/table.js').Column[]} */
const stockColumns = [
  { title: 'Store', value: level => `${level.storeNumber} ${level.storeName}` },
  { title: 'Free', right: true, value: level => level.freeStock },
  { title: 'Held back', right: true, value: level => level.buffer },
  {
    title: 'Sellable',
    right: true,
    value: level => html`<b>${level.sellable}</b>`,
    text: level => String(level.sellable),
  },
  { title: 'Why', value: explainSellable, wide: true },
  { title: 'Changed', value: level => level.updateTimeStamp, shrink: true },
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
  amountColumn('Original', row => row.originalPrice, currency),
  amountColumn('Price', row => row.price, currency),
]

/** A product with its SKUs, or with `sku:` before it one SKU with its stock. @param {{ id: string }} props */
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
    ${data === null ? html`<h2>${sku}</h2><p class="note">No product in the list has this SKU.</p>` : html`<h2>${data.name}</h2>`}
    ${
      data &&
      html`<div class="card"><${Facts}
          facts=${[
            ['Code', data.productCode],
            ['Description', data.description, 'wide'],
            ['Size range', data.sizeRange],
            ['Changed', data.updateTimeStamp],
            ['Id', html`<code>${data.id}</code>`],
          ]}
        /></div>`
    }
    ${sku !== undefined && html`<${Stock} sku=${sku} />`}
    ${rows.length > 0 && html`<${ExportableTable} title=${html`<h3>SKUs</h3>`} caption="SKUs of the product" columns=${skuColumns(data.currency)} rows=${rows} keyOf=${(/** @type {any} */ row) => row.skuId} file=${`product-${data.productCode}-skus`} />`}
  </section>`
}

/** @param {{ sku: string }} props */
const Stock = ({ sku }) => html`<${List}
    path=${`/inventory?sku=${encodeURIComponent(sku)}`}
    tools=${html`<h3>Stock of ${sku}</h3>`}
    caption=${`Stock of ${sku} by store`}
    columns=${stockColumns}
    file=${`stock-${sku}`}
    empty=${html`No store has told its stock of it. It comes with the <a href=${linkTo('syncs', 'stock')}>sync stock</a>, or a file of it.`}
  />`
