import { formatDuration } from 'tillbridge/health'
import { Timestamp } from '../components/format.js'
import { useHealth } from '../components/health.js'
import { Problem } from '../components/problem.js'
import { callApi, loadAll } from '../lib/api.js'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { rich, t } from '../lib/text.js'
import { Attention } from './overview/attention.js'
import { Deliveries, Freshness, MappingHealth } from './overview/bars.js'
import { GetStarted, useFirstSteps } from './overview/get-started.js'
import { useOverview, useSection } from './overview/sections.js'
import { Stats } from './overview/stats.js'
import { CapabilitiesCard, SyncsCard, WebhooksCard } from './overview/status-cards.js'

/** The health of the service: problems, syncs, webhooks, features and numbers of the day. */
export function Screen() {
  const isAdmin = useHasRole('admin')
  const { health } = useHealth()
  const { overview, errors } = useOverview()
  const syncs = useSection('syncs', overview, signal => callApi('/syncs', { signal }).then(({ data }) => data))
  const webhooks = useSection('webhooks', overview, async signal =>
    isAdmin ? (await loadAll('/webhooks', signal)).data : [],
  )
  const first = useFirstSteps({ isAdmin, syncs: syncs.data, webhooks: webhooks.data, overview })
  return html`<h1>Overview</h1>
    ${errors.map(error => html`<${Problem} error=${error} />`)}
    <${Attention} overview=${overview} />
    ${first && html`<${GetStarted} ...${first} />`}
    ${
      !first?.isNew &&
      html`<div class="stats">
      <${SyncsCard} section=${syncs} />
      ${isAdmin && html`<${WebhooksCard} section=${webhooks} />`}
      <${CapabilitiesCard} overview=${overview} page=${isAdmin ? 'settings' : 'overview'} />
    </div>
    <${Stats} overview=${overview} />
    <div class="bar-lists">
      ${syncs.data && html`<${Freshness} syncs=${syncs.data} />`}
      ${isAdmin && webhooks.data && html`<${Deliveries} webhooks=${webhooks.data} overview=${overview} />`}
      ${isAdmin && html`<${MappingHealth} overview=${overview} />`}
    </div>`
    }
    ${isAdmin && health && html`<p class="ink muted">${describeBackup(health.lastBackupAt)}</p>`}`
}

/** Describes the age of the newest backup. @param {string | null} at */
const describeBackup = at =>
  at === null
    ? t('Tillbridge has recorded no backup.')
    : rich('Last backup: {duration} ago ({time})', {
        duration: formatDuration((Date.now() - Date.parse(at)) / 1_000),
        time: html`<${Timestamp} time=${at} />`,
      })
