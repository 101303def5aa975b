import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'

/** The SKU of a line, linked to its stock. @type {import('../../components/table.js').Column} */
export const skuColumn = {
  title: t('SKU'),
  value: line => line.sku && html`<a href=${linkTo('search', 'product', `sku:${line.sku}`)}>${line.sku}</a>`,
  text: line => line.sku ?? '',
  shrink: true,
}

/** @param {any} line */
const formatVariant = ({ colourName, sizeCode }) => [colourName, sizeCode].filter(Boolean).join(' · ')

/** @type {import('../../components/table.js').Column} */
export const productColumn = {
  title: t('Product'),
  value: line => html`${line.productName} <small>${formatVariant(line)}</small>`,
  text: line => [line.productName, formatVariant(line)].filter(Boolean).join(' '),
}
