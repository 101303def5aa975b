import { useState } from 'preact/hooks'
import { ExportableTable } from '../../components/exportable-table.js'
import { Choice } from '../../components/field.js'
import { amountColumn, Facts, formatMoney, renderLocalTime } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatNumber, rich, t } from '../../lib/text.js'
import { Figures } from './record.js'

/** @param {any} level */
const explainSellable = ({ freeStock, buffer, sellable }) =>
  freeStock - buffer < 0 && sellable === 0
    ? t('{freeStock} on hand − {buffer} buffer, at least 0', { freeStock, buffer })
    : t('{freeStock} on hand − {buffer} buffer', { freeStock, buffer })

/** @type {import('../../components/table.js').Column[]} */
const stockColumns = [
  { title: t('Store'), value: level => `${level.storeNumber} ${level.storeName}` },
  { title: t('On hand'), right: true, value: level => level.freeStock },
  { title: t('Buffer'), right: true, value: level => level.buffer },
  {
    title: t('Available'),
    right: true,
    value: level => html`<b>${level.sellable}</b>`,
    text: level => String(level.sellable),
  },
  { title: t('Calculation'), value: explainSellable, wide: true },
  { title: t('Last updated'), value: level => level.updateTimeStamp, isTime: true, shrink: true },
]

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const skuColumns = currency => [
  {
    title: t('SKU'),
    value: row => html`<a href=${linkTo('search', 'product', `sku:${row.ecommerceSku}`)}>${row.ecommerceSku}</a>`,
    text: row => row.ecommerceSku,
  },
  { title: t('Colour'), value: row => row.colour },
  { title: t('Size'), value: row => row.sizeCode },
  { title: t('Barcode'), value: row => row.barcode },
  { title: t('Markdown'), value: row => row.markdownStatus },
  { title: t('Backorder'), value: row => (row.allowBackorder ? t('allowed') : null) },
  { title: t('Preorder from'), value: row => row.preorderDate },
  amountColumn(t('Original'), row => row.originalPrice, currency),
  amountColumn(t('Price'), row => row.price, currency),
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
  if (data === null)
    return html`<section aria-label="Product"><h2>${sku}</h2><p class="note">No product has this SKU.</p><${Stock} sku=${sku} /></section>`
  return html`<${ProductDetails} product=${data} sku=${sku} rows=${rows} />`
}

/** @param {{ product: any, sku: string | undefined, rows: any[] }} props `rows`: the SKUs */
function ProductDetails({ product, sku, rows }) {
  const { data: levels, error } = useLoad(signal => loadLevels(product.id, signal), [product.id])
  const current = rows.find(({ ecommerceSku }) => ecommerceSku === sku)
  return html`<section aria-label="Product">
    <h2>${product.name}${current && html` <small>${[current.colour, current.sizeCode, sku].filter(Boolean).join(' · ')}</small>`}</h2>
    <${Figures} figures=${current ? summarizeSku(product, current, levels) : summarize(product, rows, levels)} />
    <div class="card"><${Facts}
      facts=${[
        [t('Code'), product.productCode],
        [t('Description'), product.description, 'wide'],
        [t('Size range'), product.sizeRange],
        [t('Last updated'), renderLocalTime(product.updateTimeStamp)],
        [t('Product ID'), html`<code>${product.id}</code>`],
      ]}
    /></div>
    ${sku !== undefined && html`<${Stock} sku=${sku} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${!levels && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${levels && levels.length > 0 && html`<${StockGrid} product=${product} levels=${levels} current=${sku} />`}
    ${rows.length > 0 && html`<${ExportableTable} title=${html`<h3>SKUs</h3>`} caption="SKUs of the product" columns=${skuColumns(product.currency)} rows=${rows} getKey=${(/** @type {any} */ row) => row.skuId} file=${`product-${product.productCode}-skus`} />`}
  </section>`
}

/** @param {any} product @param {any[]} rows the SKUs @param {any[] | undefined} levels @returns {[title: string, value: unknown][]} */
function summarize({ currency }, rows, levels) {
  const prices = rows
    .map(({ price }) => price)
    .filter(price => price !== null)
    .sort((a, b) => a - b)
  const [lowest, highest] = [prices[0], prices.at(-1)]
  const sum = (/** @type {string} */ name) =>
    levels ? formatNumber(levels.reduce((total, level) => total + level[name], 0)) : '…'
  const withStock = new Set(levels?.filter(level => level.available > 0).map(level => level.sku)).size
  return [
    [
      t('Price'),
      prices.length === 0
        ? '–'
        : lowest === highest
          ? formatMoney(lowest, currency)
          : `${formatMoney(lowest, currency)} – ${highest}`,
    ],
    [t('On hand'), sum('onHand')],
    [t('Available'), sum('available')],
    [t('SKUs in stock'), levels ? t('{part} of {total}', { part: withStock, total: rows.length }) : '…'],
  ]
}

/** @param {any} product @param {any} row the SKU @param {any[] | undefined} levels of the product @returns {[title: string, value: unknown][]} */
function summarizeSku({ currency }, { ecommerceSku, price }, levels) {
  const skuLevels = levels?.filter(level => level.sku === ecommerceSku)
  const sum = (/** @type {string} */ name) =>
    skuLevels ? formatNumber(skuLevels.reduce((total, level) => total + level[name], 0)) : '…'
  return [
    [t('Price'), formatMoney(price, currency) ?? '–'],
    [t('On hand'), sum('onHand')],
    [t('Available'), sum('available')],
    [
      t('Stores with stock'),
      skuLevels
        ? t('{part} of {total}', {
            part: skuLevels.filter(level => level.available > 0).length,
            total: skuLevels.length,
          })
        : '…',
    ],
  ]
}

/** Loads the stock levels of a product. @param {string} id @param {AbortSignal} signal */
async function loadLevels(id, signal) {
  const levels = []
  for (let offset = 0; ; offset += 250) {
    const path = `/browse?table=stock&q=${encodeURIComponent(id)}&limit=250&offset=${offset}`
    const { rows } = (await callApi(path, { signal })).data
    levels.push(...rows.filter((/** @type {any} */ row) => row.productId === id))
    if (rows.length < 250) return levels
  }
}

/** Few units of a SKU. */
const lowStock = 3

/** The units that can be sold by colour and size, of all stores or one. @param {{ product: any, levels: any[], current: string | undefined }} props `current`: the SKU of the page */
function StockGrid({ product, levels, current }) {
  const [store, setStore] = useState('')
  const stores = [...new Map(levels.map(level => [level.storeNumber, level.store])).entries()].sort()
  const sum = (/** @type {string} */ sku) =>
    levels
      .filter(level => level.sku === sku && (!store || level.storeNumber === store))
      .reduce((total, level) => total + level.available, 0)
  const colours = /** @type {any[]} */ (product.colours)
  const sizes = [...new Set(colours.flatMap(colour => colour.sizes.map((/** @type {any} */ size) => size.sizeCode)))]
  return html`<section aria-label="Stock by colour and size">
    <div class="tools">
      <h3>Available by colour and size</h3>
      <span class="aside"><${Choice} label="Store" inline=${true} value=${store} change=${setStore} options=${[['', t('All stores')], ...stores.map(([number, name]) => [number, `${number} ${name}`])]} /></span>
    </div>
    <div class="scroll" role="region" aria-label="Available units by colour and size" tabindex="0">
      <table class="grid">
        <caption class="hidden">Available units by colour and size</caption>
        <thead><tr><th scope="col">Colour</th>${sizes.map(size => html`<th scope="col" class="right" key=${size}>${size}</th>`)}</tr></thead>
        <tbody>${colours.map(
          colour =>
            html`<tr key=${colour.id}><th scope="row">${colour.name ?? colour.code}</th>${sizes.map(sizeCode => {
              const size = colour.sizes.find((/** @type {any} */ each) => each.sizeCode === sizeCode)
              if (!size) return html`<td key=${sizeCode} class="right"><span class="none">–</span></td>`
              const units = sum(size.ecommerceSku)
              const level = units <= 0 ? 'empty-stock' : units <= lowStock ? 'low-stock' : ''
              return html`<td key=${sizeCode} class=${`right ${level}`}><a href=${linkTo('search', 'product', `sku:${size.ecommerceSku}`)} aria-label=${t('{units} of {ecommerceSku}', { units, ecommerceSku: size.ecommerceSku })} aria-current=${size.ecommerceSku === current ? 'true' : undefined}>${formatNumber(units)}</a></td>`
            })}</tr>`,
        )}</tbody>
      </table>
    </div>
    <p class="note">Units that can be sold online, after buffers and reservations.</p>
  </section>`
}

/** @param {{ sku: string }} props */
const Stock = ({ sku }) => html`<${List}
    path=${`/inventory?sku=${encodeURIComponent(sku)}`}
    tools=${html`<h3>${t('Stock of {sku}', { sku })}</h3>`}
    caption=${t('Stock of {sku} by store', { sku })}
    columns=${stockColumns}
    file=${`stock-${sku}`}
    empty=${rich('No stock data for this SKU. It is loaded by the <link>stock sync</link> or an import.', { link: content => html`<a href=${linkTo('syncs', 'stock')}>${content}</a>` })}
  />`
