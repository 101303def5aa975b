import { linkTo } from '../../lib/route.js'

/**
 * What requests are searched by, as it was typed: names are those of the fields of the form.
 * @typedef {Record<string, string>} Search
 */

/** The address of what a search finds. @param {Search} search */
export const linkToSearch = search => linkTo('requests', 'search', new URLSearchParams(removeEmpty(search)).toString())

/** A search by its part of the address. @param {string} [text] @returns {Search} */
export const parseSearch = (text = '') => Object.fromEntries(new URLSearchParams(text))

/** Without the fields that were left empty. @param {Search} search @returns {Search} */
export const removeEmpty = search =>
  Object.fromEntries(
    Object.entries(search)
      .map(([name, value]) => [name, value.trim()])
      .filter(([, value]) => value),
  )

/** The path of the API that carries a search out. @param {Search} search */
export function toApiPath({ where = '', answered_after: after = '', answered_before: before = '', ...rest }) {
  const query = new URLSearchParams(rest)
  // `PUT /customers/:id` is an operation; what was copied from a browser may have a query, which is not kept.
  if (/^[A-Z]+ /.test(where)) query.set('operation', where)
  else if (where) query.set('path', where.replace(/\?.*$/, ''))
  for (const [name, moment] of Object.entries({ answered_after: after, answered_before: before }))
    if (moment) query.set(name, new Date(moment).toISOString())
  return `/requests${query.size ? `?${query}` : ''}`
}
