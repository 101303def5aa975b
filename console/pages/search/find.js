import { searchRecords } from '../../components/search-results.js'
import { callApi } from '../../lib/api.js'

/** @typedef {import('../../components/search-results.js').SearchResult} SearchResult */

/** Loads a list. Returns no records if the text isn't a valid value of its filter. @param {string} path @returns {Promise<any[]>} */
const loadList = path =>
  callApi(path).then(
    ({ data }) => data,
    error => {
      if (['invalid_parameter', 'capability_unavailable', 'not_found'].includes(error.problem?.code)) return []
      throw error
    },
  )

/**
 * Finds records. If no stored record matches, it asks the back office for an order with this number, because not every order is stored.
 * @param {string} text @returns {Promise<{ results: SearchResult[], error?: unknown }>}
 */
export async function findRecords(text) {
  const results = await searchRecords(text)
  if (results.length > 0) return { results }
  try {
    const orders = await loadList(`/orders?order_number=${encodeURIComponent(text)}`)
    return {
      results: orders.map(({ id, orderNumber }) => ({
        type: 'order',
        id,
        title: orderNumber,
        detail: '',
        matchedField: 'number',
        matchedText: orderNumber,
      })),
    }
  } catch (error) {
    return { results, error }
  }
}
