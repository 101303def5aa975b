import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'

/**
 * Loads a record and shows it.
 * @param {{ path: string, show: (record: any) => unknown }} props
 */
export function LoadedRecord({ path, show }) {
  const { data, error } = useLoad(signal => callApi(path, { signal }), [path])
  if (error) return html`<${Problem} error=${error} />`
  return data ? show(data.data) : html`<p class="opening" role="status">Loading…</p>`
}

/** Formats an address on one line. @param {any} address */
export const formatAddress = address =>
  address &&
  ['contactName', 'companyName', 'addressLine1', 'addressLine2', 'city', 'state', 'postcode', 'country']
    .map(name => address[name])
    .filter(Boolean)
    .join(', ')
