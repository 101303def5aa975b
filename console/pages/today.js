import { Problem } from '../components/problem.js'
import { html } from '../lib/html.js'
import { useMay } from '../lib/role.js'
import { Alerts } from './today/alerts.js'
import { Figures } from './today/figures.js'
import { useToday } from './today/part.js'
import { Capabilities, Syncs, Webhooks } from './today/standing.js'

/** Is everything well? What has to be looked at, and what is late or behind. */
export function Screen() {
  const isAdmin = useMay('admin')
  const { today, errors } = useToday()
  return html`<h1>Today</h1>
    <p class="lead">Is everything well? Each figure leads to its screen.</p>
    ${errors.map(error => html`<${Problem} error=${error} />`)}
    <div class="figures">
      <${Syncs} today=${today} />
      ${isAdmin && html`<${Webhooks} today=${today} />`}
      <${Capabilities} today=${today} place=${isAdmin ? 'settings' : 'today'} />
    </div>
    <${Figures} today=${today} />
    <h2>Needs attention</h2>
    <${Alerts} today=${today} />`
}
