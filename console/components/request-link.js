import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { linkTo } from '../lib/route.js'

/**
 * A request ID. For admins it links to the request's page.
 * @param {{ id: string, short?: boolean }} props `short`: shows only the last 8 characters, because IDs of the same minute begin alike
 */
export function RequestLink({ id, short = false }) {
  const isAdmin = useHasRole('admin')
  const shown = html`<code class=${short ? 'shrink' : undefined}>${short && id.length > 12 ? `…${id.slice(-8)}` : id}</code>`
  return isAdmin ? html`<a href=${linkTo('requests', id)} title=${id}>${shown}</a>` : shown
}
