import { renderCode } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'

/** What does not work as the service is set, and why: a list to work off. @param {{ version: string | null }} props */
export function Lacking({ version }) {
  const { data } = useLoad(signal => callApi('/capabilities', { signal }), [version])
  const lacking = (data?.data.capabilities ?? []).filter(
    (/** @type {{ available: boolean }} */ { available }) => !available,
  )
  if (lacking.length === 0) return null
  return html`<section class="card" aria-label="What is missing">
    <h2>Still missing</h2>
    <ul class="todo">
      ${lacking.map(
        (/** @type {{ name: string, reason?: string }} */ { name, reason }) =>
          html`<li key=${name}><b>${name}</b>${reason && html` ${renderCode(reason)}`}</li>`,
      )}
    </ul>
  </section>`
}
