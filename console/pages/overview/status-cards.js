import { formatDuration } from '../../components/format.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useSection, wholeList } from './sections.js'
import { StatCard } from './stat-card.js'

/** @typedef {import('./sections.js').Overview} Overview */
/** @typedef {{ number: unknown, words: string, tone: 'good' | 'bad' | 'warn' | 'idle' }} Shown */

/**
 * A figure once it is there.
 * @param {{ title: string, place: string[], overview: Overview, load: () => Promise<any>, show: (data: any) => Shown }} props
 */
function StatusCard({ title, place, overview, load, show }) {
  const { data, isLacking } = useSection(title, overview, load)
  const unknown = /** @type {const} */ ({ number: '–', words: 'not known', tone: 'bad' })
  if (data === undefined && !isLacking)
    return html`<div class="figure card"><span class="opening" role="status">Loading…</span></div>`
  return html`<${StatCard} title=${title} place=${place} ...${isLacking ? unknown : show(data)} />`
}

/** What is late, against its schedule, and what failed. @param {any[]} late @param {any[]} failed */
function badWords(late, failed) {
  const [first] = late
  if (late.length > 1 || !first) return `${late.length} late, ${failed.length} failed`
  const age = first.lagSeconds === null ? 'never brought' : `${formatDuration(first.lagSeconds)} old`
  return `${first.sync} is late: ${age}, due every ${formatDuration(first.intervalSeconds)}`
}

/** @param {any[]} syncs @returns {Shown} */
function summarizeSyncs(syncs) {
  const late = syncs.filter(({ isOverdue }) => isOverdue)
  const failed = syncs.filter(({ state }) => state === 'failed')
  const number = syncs.length
  if (number === 0) return { number, words: 'nothing is pulled', tone: 'idle' }
  if (late.length + failed.length > 0) return { number, words: badWords(late, failed), tone: 'bad' }
  return { number, words: 'all in time', tone: 'good' }
}

/** @param {{ overview: Overview }} props */
export const SyncsCard = ({ overview }) => html`<${StatusCard}
  title="Syncs"
  place=${['syncs']}
  overview=${overview}
  load=${() => callApi('/syncs').then(answer => answer.data)}
  show=${summarizeSyncs}
/>`

/** @param {any[]} webhooks @returns {Shown} */
function summarizeWebhooks(webhooks) {
  const failing = webhooks.filter(({ state }) => state === 'failing').length
  const behind = Math.max(0, ...webhooks.map(each => each.lag.seconds))
  const number = webhooks.length
  if (number === 0) return { number, words: 'nobody is told', tone: 'idle' }
  if (failing) return { number, words: `${failing} failing`, tone: 'bad' }
  return { number, words: behind ? `behind by ${formatDuration(behind)}` : 'none is behind', tone: 'good' }
}

/** @param {{ overview: Overview }} props */
export const WebhooksCard = ({ overview }) => html`<${StatusCard}
  title="Webhooks"
  place=${['webhooks']}
  overview=${overview}
  load=${() => wholeList('/webhooks')}
  show=${summarizeWebhooks}
/>`

/** @param {{ capabilities: any[], backOffice: { driver: string } }} data @returns {Shown} */
function summarizeCapabilities({ capabilities, backOffice }) {
  const lacking = capabilities.filter(({ available }) => !available).length
  const words = `${lacking ? `${lacking} missing` : 'all available'} (${backOffice.driver})`
  return {
    number: `${capabilities.length - lacking} of ${capabilities.length}`,
    words,
    tone: lacking ? 'warn' : 'good',
  }
}

/** @param {{ overview: Overview, place: string }} props */
export const CapabilitiesCard = ({ overview, place }) => html`<${StatusCard}
  title="Capabilities"
  place=${[place]}
  overview=${overview}
  load=${() => callApi('/capabilities').then(answer => answer.data)}
  show=${summarizeCapabilities}
/>`
