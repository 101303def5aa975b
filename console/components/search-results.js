import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { t } from '../lib/text.js'

/**
 * A record of `GET /search`.
 * @typedef {{ type: string, id: string, title: string, detail: string, matchedField: string, matchedText: string }} SearchResult
 */

/** The title of each type of record. @type {Record<string, string>} */
const typeTitles = {
  customer: t('Customer'),
  order: t('Order'),
  sale: t('Receipt'),
  return: t('Return'),
  product: t('Product'),
  sku: 'SKU',
  voucher: t('Voucher'),
}

/** Searches all stored records. @param {string} text @param {AbortSignal} [signal] @returns {Promise<SearchResult[]>} */
export const searchRecords = async (text, signal) =>
  (await callApi(`/search?q=${encodeURIComponent(text)}`, signal ? { signal } : {})).data

/** Returns the route of a result. A SKU is part of its product's page. @param {SearchResult} result */
export const getRoute = ({ type, id }) => (type === 'sku' ? ['search', 'product', `sku:${id}`] : ['search', type, id])

const escapeWord = (/** @type {string} */ word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Marks the words of the search text in a text. @param {string} text @param {string} query */
function markWords(text, query) {
  const words = query.split(/[\s,@+._-]+/).filter(word => word.length > 1)
  if (words.length === 0) return text
  const parts = text.split(new RegExp(`(${words.map(escapeWord).join('|')})`, 'i'))
  return parts.map((part, i) => (i % 2 ? html`<mark>${part}</mark>` : part))
}

/** A result with its type, title and matching text. @param {{ result: SearchResult, query: string }} props */
export function ResultText({ result: { type, title, detail, matchedText }, query }) {
  const isShown = `${title} ${detail}`.includes(matchedText)
  return html`<span class="tag">${typeTitles[type] ?? type}</span>
    <span><b>${markWords(title, query)}</b> <small>${markWords(isShown ? detail : `${matchedText} · ${detail}`, query)}</small></span>`
}

/** Links to all results. @param {{ results: SearchResult[], query: string, choose: () => void }} props */
export const ResultLinks = ({ results, query, choose }) => html`<ul class="hits">
  ${results.map(result => html`<li key=${`${result.type} ${result.id}`}><a href=${linkTo(...getRoute(result))} onClick=${choose}><${ResultText} result=${result} query=${query} /></a></li>`)}
</ul>`
