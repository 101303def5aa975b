import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { linkTo } from '../lib/route.js'

/**
 * The id of a request, which leads admins to what became of it.
 * @param {{ id: string, short?: boolean }} props `short`: its end, in tables; all of it on hovering. Those of one minute begin alike
 */
export function RequestLink({ id, short = false }) {
  const isAdmin = useHasRole('admin')
  const shown = html`<code class=${short ? 'shrink' : undefined}>${short && id.length > 12 ? `…${id.slice(-8)}` : id}</code>`
  return isAdmin ? html`<a href=${linkTo('requests', id)} title=${id}>${shown}</a>` : shown
}
