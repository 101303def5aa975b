import { callApi, findRecord } from '../../lib/api.js'

/** @typedef {{ kind: string, id: string, title: string }} Hit */

/** A list's records, none where the text cannot be one of its filters. @param {string} path @returns {Promise<any[]>} */
const loadList = path =>
  callApi(path).then(
    ({ data }) => data,
    error => {
      if (['invalid_parameter', 'capability_unavailable', 'not_found'].includes(error.problem?.code)) return []
      throw error
    },
  )

/** A name of more words is asked for as it was typed: each order of them is a request. */
const maxWords = 6

/** Of each order of a name's words, so many customers. */
const maxNamesakes = 20

/** Customers whose name it may be: in which order first name and surname were typed is not known, but where a comma tells. @param {string} text */
async function findCustomersByName(text) {
  // No name has a digit.
  if (/\d/.test(text)) return []
  const words = text.split(/\s+/)
  const isAskedOnce = text.includes(',') || words.length > maxWords
  const turned = isAskedOnce ? [text] : words.map((_, i) => [...words.slice(i), ...words.slice(0, i)].join(' '))
  const found = turned.map(name => loadList(`/customers/search?limit=${maxNamesakes}&name=${encodeURIComponent(name)}`))
  return (await Promise.all(found)).flat()
}

/**
 * What goes by a text. An e-mail address is nothing but a customer's; only admins are told which vouchers there are.
 * @param {string} text @param {boolean} isAdmin @returns {Promise<Hit[]>}
 */
export async function findRecords(text, isAdmin) {
  const asked = encodeURIComponent(text)
  if (/^\S+@\S+$/.test(text)) return (await loadList(`/customers?email=${asked}`)).map(toCustomerHit)
  const [people, customers, orders, orderIds, returns, sales, products, skus, voucher] = await Promise.all([
    findCustomersByName(text),
    findRecord(`/customers/${asked}`),
    loadList(`/orders?order_number=${asked}`),
    findRecord(`/orders/${asked}`),
    findRecord(`/returns/${asked}`),
    findRecord(`/transactions/${asked}`),
    loadList(`/products?code=${asked}`),
    loadList(`/products?sku=${asked}`),
    isAdmin ? loadList(`/vouchers/${asked}/ledger`) : [],
  ])
  const hits = [
    ...[customers].filter(Boolean).map(toCustomerHit),
    ...[...orders, orderIds].filter(Boolean).map(({ id, orderNumber }) => ({ kind: 'order', id, title: orderNumber })),
    ...[returns].filter(Boolean).map(({ id, returnNumber }) => ({ kind: 'return', id, title: returnNumber })),
    ...[sales].filter(Boolean).map(({ id, number }) => ({ kind: 'sale', id, title: number ?? id })),
    ...[...skus, ...products].map(({ id, productCode, name }) => ({
      kind: 'product',
      id,
      title: `${productCode} ${name}`,
    })),
    ...people.map(toCustomerHit),
    ...('voucher' in voucher ? [{ kind: 'voucher', id: text, title: text }] : []),
  ]
  return [...new Map(hits.map(hit => [`${hit.kind} ${hit.id}`, hit])).values()]
}

/** @param {any} found @returns {Hit} */
const toCustomerHit = ({ id, firstname, surname, contact }) => ({
  kind: 'customer',
  id,
  title: [[firstname, surname].filter(Boolean).join(' ') || id, contact.email].filter(Boolean).join(', '),
})
