import { Problem } from '../components/problem.js'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { Alerts } from './overview/alerts.js'
import { useOverview } from './overview/sections.js'
import { Stats } from './overview/stats.js'
import { CapabilitiesCard, SyncsCard, WebhooksCard } from './overview/status-cards.js'

/** The health of the service: syncs, webhooks, features, numbers of the day and alerts. */
export function Screen() {
  const isAdmin = useHasRole('admin')
  const { overview, errors } = useOverview()
  return html`<h1>Overview</h1>
    <p class="lead">Status at a glance</p>
    ${errors.map(error => html`<${Problem} error=${error} />`)}
    <div class="stats">
      <${SyncsCard} overview=${overview} />
      ${isAdmin && html`<${WebhooksCard} overview=${overview} />`}
      <${CapabilitiesCard} overview=${overview} page=${isAdmin ? 'settings' : 'overview'} />
    </div>
    <${Stats} overview=${overview} />
    <h2>Needs attention</h2>
    <${Alerts} overview=${overview} />`
}
