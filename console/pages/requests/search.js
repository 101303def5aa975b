import { linkTo } from '../../lib/route.js'

/** The values of the search form by field name. @typedef {Record<string, string>} Search */

/** Returns the link to a search. @param {Search} search */
export const linkToSearch = search => linkTo('requests', 'search', new URLSearchParams(removeEmpty(search)).toString())

/** Returns a time as the value of a time field, which has the browser's time zone. @param {string} time RFC 3339 */
function toLocalInput(time) {
  const at = new Date(time)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Returns the link to the requests of an interval. @param {string} from RFC 3339 @param {string} until RFC 3339 @param {Search} [search] */
export const linkToInterval = (from, until, search = {}) =>
  linkToSearch({ ...search, answered_after: toLocalInput(from), answered_before: toLocalInput(until) })

/** Parses the part of the route that contains a search. @param {string} [text] @returns {Search} */
export const parseSearch = (text = '') => Object.fromEntries(new URLSearchParams(text))

/** @param {Search} search @returns {Search} */
export const removeEmpty = search =>
  Object.fromEntries(
    Object.entries(search)
      .map(([name, value]) => [name, value.trim()])
      .filter(([, value]) => value),
  )

/** Returns the API path of a search. @param {Search} search @param {string} [part] of the log */
export function toApiPath(
  { where = '', answered_after: after = '', answered_before: before = '', ...filters },
  part = '',
) {
  const query = new URLSearchParams(filters)
  // `PUT /customers/:id` is an operation, everything else a path. The log has no queries, so that of a copied URL is removed.
  if (/^[A-Z]+ /.test(where)) query.set('operation', where)
  else if (where) query.set('path', where.replace(/\?.*$/, ''))
  for (const [name, time] of Object.entries({ answered_after: after, answered_before: before }))
    if (time) query.set(name, new Date(time).toISOString())
  return `/console/requests${part}${query.size ? `?${query}` : ''}`
}
