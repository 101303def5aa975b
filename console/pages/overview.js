import { Problem } from '../components/problem.js'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { Alerts } from './overview/alerts.js'
import { useOverview } from './overview/sections.js'
import { Stats } from './overview/stats.js'
import { CapabilitiesCard, SyncsCard, WebhooksCard } from './overview/status-cards.js'

/** Is everything well? What has to be looked at, and what is late or behind. */
export function Screen() {
  const isAdmin = useHasRole('admin')
  const { overview, errors } = useOverview()
  return html`<h1>Overview</h1>
    <p class="lead">Is everything well? Each figure leads to its screen.</p>
    ${errors.map(error => html`<${Problem} error=${error} />`)}
    <div class="figures">
      <${SyncsCard} overview=${overview} />
      ${isAdmin && html`<${WebhooksCard} overview=${overview} />`}
      <${CapabilitiesCard} overview=${overview} place=${isAdmin ? 'settings' : 'overview'} />
    </div>
    <${Stats} overview=${overview} />
    <h2>Needs attention</h2>
    <${Alerts} overview=${overview} />`
}
