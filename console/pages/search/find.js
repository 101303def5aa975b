import { callApi, findRecord } from '../../lib/api.js'

/** @typedef {{ kind: string, id: string, title: string }} Hit */

/** Loads a list. Returns no records if the text isn't a valid value of its filter. @param {string} path @returns {Promise<any[]>} */
const loadList = path =>
  callApi(path).then(
    ({ data }) => data,
    error => {
      if (['invalid_parameter', 'capability_unavailable', 'not_found'].includes(error.problem?.code)) return []
      throw error
    },
  )

/** A name with more words is searched only as typed, because each order of the words needs a request. */
const maxWords = 6

/** Customers to load for each order of the words. */
const maxNamesakes = 20

/** Finds customers by name. Without a comma, the surname can be at either end, so each rotation of the words is searched. @param {string} text */
async function findCustomersByName(text) {
  // No name contains a digit.
  if (/\d/.test(text)) return []
  const words = text.split(/\s+/)
  const isFixedOrder = text.includes(',') || words.length > maxWords
  const names = isFixedOrder ? [text] : words.map((_, i) => [...words.slice(i), ...words.slice(0, i)].join(' '))
  const results = names.map(name =>
    loadList(`/customers/search?limit=${maxNamesakes}&name=${encodeURIComponent(name)}`),
  )
  return (await Promise.all(results)).flat()
}

/**
 * Finds records by their exact number, code or ID, and customers also by email address or name. Vouchers are found by admins only.
 * Returns the hits of the successful requests with the errors of the others, because stored records can be found while the back office is
 * down. Throws if all requests fail.
 * @param {string} text @param {boolean} isAdmin @returns {Promise<{ hits: Hit[], errors: any[] }>}
 */
export async function findRecords(text, isAdmin) {
  const value = encodeURIComponent(text)
  if (/^\S+@\S+$/.test(text))
    return { hits: (await loadList(`/customers?email=${value}`)).map(toCustomerHit), errors: [] }
  const results = await Promise.allSettled([
    findCustomersByName(text),
    findRecord(`/customers/${value}`),
    loadList(`/orders?order_number=${value}`),
    findRecord(`/orders/${value}`),
    findRecord(`/returns/${value}`),
    findRecord(`/transactions/${value}`),
    loadList(`/products?code=${value}`),
    loadList(`/products?sku=${value}`),
    isAdmin ? loadList(`/vouchers/${value}/ledger`) : [],
  ])
  const errors = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  if (errors.length === results.length) throw errors[0]
  const [namesakes = [], customer, orders = [], order, returned, sale, products = [], skus = [], voucher = []] =
    results.map(result => (result.status === 'fulfilled' ? result.value : undefined))
  const hits = [
    ...[customer].filter(Boolean).map(toCustomerHit),
    ...[...orders, order].filter(Boolean).map(({ id, orderNumber }) => ({ kind: 'order', id, title: orderNumber })),
    ...[returned].filter(Boolean).map(({ id, returnNumber }) => ({ kind: 'return', id, title: returnNumber })),
    ...[sale].filter(Boolean).map(({ id, number }) => ({ kind: 'sale', id, title: number ?? id })),
    ...[...skus, ...products].map(({ id, productCode, name }) => ({
      kind: 'product',
      id,
      title: `${productCode} ${name}`,
    })),
    ...namesakes.map(toCustomerHit),
    ...('voucher' in voucher ? [{ kind: 'voucher', id: text, title: text }] : []),
  ]
  return { hits: [...new Map(hits.map(hit => [`${hit.kind} ${hit.id}`, hit])).values()], errors }
}

/** @param {any} customer @returns {Hit} */
const toCustomerHit = ({ id, firstname, surname, contact }) => ({
  kind: 'customer',
  id,
  title: [[firstname, surname].filter(Boolean).join(' ') || id, contact.email].filter(Boolean).join(', '),
})
