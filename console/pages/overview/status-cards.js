import { formatDuration } from '../../components/format.js'
import { callApi, loadAll } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useSection } from './sections.js'
import { StatCard } from './stat-card.js'

/** @typedef {import('./sections.js').Overview} Overview */
/** @typedef {{ number: unknown, text: string, tone: import('../../components/format.js').Tone }} Summary */

/**
 * A card that loads its data.
 * @param {{ title: string, route: string[], overview: Overview, load: () => Promise<any>, summarize: (data: any) => Summary }} props
 */
function StatusCard({ title, route, overview, load, summarize }) {
  const { data, isFailed } = useSection(title, overview, load)
  const failed = /** @type {const} */ ({ number: '–', text: 'not loaded', tone: 'bad' })
  if (data === undefined && !isFailed)
    return html`<div class="stat card"><span class="opening" role="status">Loading…</span></div>`
  return html`<${StatCard} title=${title} route=${route} ...${isFailed ? failed : summarize(data)} />`
}

/** @param {any[]} overdue @param {any[]} failed */
function describeProblems(overdue, failed) {
  const [first] = overdue
  if (overdue.length > 1 || !first) return `${overdue.length} late, ${failed.length} failed`
  const age = first.lagSeconds === null ? 'never synced' : `${formatDuration(first.lagSeconds)} old`
  return `${first.sync} is late: ${age}, due every ${formatDuration(first.intervalSeconds)}`
}

/** @param {any[]} syncs @returns {Summary} */
function summarizeSyncs(syncs) {
  const overdue = syncs.filter(({ isOverdue }) => isOverdue)
  const failed = syncs.filter(({ state }) => state === 'failed')
  const number = syncs.length
  if (number === 0) return { number, text: 'no syncs', tone: 'idle' }
  if (overdue.length + failed.length > 0) return { number, text: describeProblems(overdue, failed), tone: 'bad' }
  return { number, text: 'all on schedule', tone: 'good' }
}

/** @param {{ overview: Overview }} props */
export const SyncsCard = ({ overview }) => html`<${StatusCard}
  title="Syncs"
  route=${['syncs']}
  overview=${overview}
  load=${() => callApi('/syncs').then(({ data }) => data)}
  summarize=${summarizeSyncs}
/>`

/** @param {any[]} webhooks @returns {Summary} */
function summarizeWebhooks(webhooks) {
  const failing = webhooks.filter(({ state }) => state === 'failing').length
  const lagSeconds = Math.max(0, ...webhooks.map(each => each.lag.seconds))
  const number = webhooks.length
  if (number === 0) return { number, text: 'no webhooks', tone: 'idle' }
  if (failing) return { number, text: `${failing} failing`, tone: 'bad' }
  return {
    number,
    text: lagSeconds ? `up to ${formatDuration(lagSeconds)} behind` : 'all up to date',
    tone: 'good',
  }
}

/** @param {{ overview: Overview }} props */
export const WebhooksCard = ({ overview }) => html`<${StatusCard}
  title="Webhooks"
  route=${['webhooks']}
  overview=${overview}
  load=${() => loadAll('/webhooks').then(({ data }) => data)}
  summarize=${summarizeWebhooks}
/>`

/** @param {{ capabilities: any[], backOffice: { driver: string } }} data @returns {Summary} */
function summarizeCapabilities({ capabilities, backOffice }) {
  const missing = capabilities.filter(({ available }) => !available).length
  return {
    number: `${capabilities.length - missing} of ${capabilities.length}`,
    text: `${missing ? `${missing} missing` : 'all available'} (${backOffice.driver})`,
    tone: missing ? 'warn' : 'good',
  }
}

/** @param {{ overview: Overview, page: string }} props `page`: the screen that explains missing features */
export const CapabilitiesCard = ({ overview, page }) => html`<${StatusCard}
  title="Features available"
  route=${[page]}
  overview=${overview}
  load=${() => callApi('/capabilities').then(({ data }) => data)}
  summarize=${summarizeCapabilities}
/>`
