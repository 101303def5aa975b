import { Problem } from '../components/problem.js'
import { callApi, loadAll } from '../lib/api.js'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { Alerts } from './overview/alerts.js'
import { findProblems } from './overview/problems.js'
import { useOverview, useSection } from './overview/sections.js'
import { Stats } from './overview/stats.js'
import { CapabilitiesCard, SyncsCard, WebhooksCard } from './overview/status-cards.js'

/** The health of the service: problems and alerts, syncs, webhooks, features and numbers of the day. */
export function Screen() {
  const isAdmin = useHasRole('admin')
  const { overview, errors } = useOverview()
  const syncs = useSection('syncs', overview, signal => callApi('/syncs', { signal }).then(({ data }) => data))
  const webhooks = useSection('webhooks', overview, async signal =>
    isAdmin ? (await loadAll('/webhooks', signal)).data : [],
  )
  const calls = useSection('calls', overview, signal =>
    callApi('/stats/back-office-calls', { signal }).then(({ data }) => data),
  )
  const isLoaded = [syncs, webhooks, calls].every(({ data, isFailed }) => data !== undefined || isFailed)
  const state = { syncs: syncs.data, webhooks: webhooks.data, breaker: calls.data?.breaker }
  const reload = () => {
    syncs.reload()
    webhooks.reload()
  }
  return html`<h1>Overview</h1>
    <p class="lead">Status at a glance</p>
    ${errors.map(error => html`<${Problem} error=${error} />`)}
    <div class="stats">
      <${SyncsCard} section=${syncs} />
      ${isAdmin && html`<${WebhooksCard} section=${webhooks} />`}
      <${CapabilitiesCard} overview=${overview} page=${isAdmin ? 'settings' : 'overview'} />
    </div>
    <h2>Needs attention</h2>
    <${Alerts} overview=${overview} problems=${isLoaded ? findProblems(state) : undefined} reload=${reload} />
    <${Stats} overview=${overview} />`
}
