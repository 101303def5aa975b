import { Problem } from '../components/problem.js'
import { html } from '../lib/html.js'
import { useMay } from '../lib/role.js'
import { Alerts } from './overview/alerts.js'
import { Figures } from './overview/figures.js'
import { useOverview } from './overview/part.js'
import { Capabilities, Syncs, Webhooks } from './overview/standing.js'

/** Is everything well? What has to be looked at, and what is late or behind. */
export function Screen() {
  const isAdmin = useMay('admin')
  const { overview, errors } = useOverview()
  return html`<h1>Overview</h1>
    <p class="lead">Is everything well? Each figure leads to its screen.</p>
    ${errors.map(error => html`<${Problem} error=${error} />`)}
    <div class="figures">
      <${Syncs} overview=${overview} />
      ${isAdmin && html`<${Webhooks} overview=${overview} />`}
      <${Capabilities} overview=${overview} place=${isAdmin ? 'settings' : 'overview'} />
    </div>
    <${Figures} overview=${overview} />
    <h2>Needs attention</h2>
    <${Alerts} overview=${overview} />`
}
