import { assessSync, assessWebhook, formatDuration } from 'tillbridge/health'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { nameDriver } from '../../lib/states.js'
import { t } from '../../lib/text.js'
import { useSection } from './sections.js'
import { StatCard } from './stat-card.js'

/** @typedef {import('./sections.js').Overview} Overview */
/** @typedef {{ data: any, isFailed: boolean }} Section */
/** @typedef {{ number: unknown, text: string, tone: import('../../components/format.js').Tone }} Summary */

/** @param {{ title: string, route: string, section: Section, summarize: (data: any) => Summary }} props */
function StatusCard({ title, route, section: { data, isFailed }, summarize }) {
  const failed = /** @type {const} */ ({ number: '–', text: t('not loaded'), tone: 'bad' })
  if (data === undefined && !isFailed)
    return html`<div class="stat card"><span class="opening" role="status">Loading…</span></div>`
  return html`<${StatCard} title=${title} route=${route} ...${isFailed ? failed : summarize(data)} />`
}

/** Counts the records of each level. @param {any[]} records @param {(record: any) => import('tillbridge/health').Assessment} assess */
function countLevels(records, assess) {
  const count = (/** @type {string} */ level) => records.filter(record => assess(record).level === level).length
  return { bad: count('critical'), warn: count('degraded') }
}

/** @param {any[]} syncs @returns {Summary} */
function summarizeSyncs(syncs) {
  const number = syncs.length
  if (number === 0) return { number, text: t('no syncs'), tone: 'idle' }
  const { bad, warn } = countLevels(syncs, assessSync)
  if (bad) return { number, text: t('{bad} late or failed', { bad }), tone: 'bad' }
  if (warn) return { number, text: t('{warn} with rejected or skipped records', { warn }), tone: 'warn' }
  return { number, text: t('all on schedule'), tone: 'good' }
}

/** @param {{ section: Section }} props */
export const SyncsCard = ({ section }) =>
  html`<${StatusCard} title="Syncs" route=${linkTo('syncs')} section=${section} summarize=${summarizeSyncs} />`

/** @param {any[]} webhooks @returns {Summary} */
function summarizeWebhooks(webhooks) {
  const number = webhooks.length
  if (number === 0) return { number, text: t('no webhooks'), tone: 'idle' }
  const { bad, warn } = countLevels(webhooks, assessWebhook)
  if (bad) return { number, text: t('{bad} failing', { bad }), tone: 'bad' }
  if (warn) return { number, text: t('{warn} paused or retrying', { warn }), tone: 'warn' }
  const lagSeconds = Math.max(0, ...webhooks.map(webhook => webhook.lag.seconds))
  return {
    number,
    text: lagSeconds ? t('up to {duration} behind', { duration: formatDuration(lagSeconds) }) : t('all up to date'),
    tone: 'good',
  }
}

/** @param {{ section: Section }} props */
export const WebhooksCard = ({ section }) =>
  html`<${StatusCard} title="Webhooks" route=${linkTo('webhooks')} section=${section} summarize=${summarizeWebhooks} />`

/** @param {{ capabilities: any[], backOffice: { driver: string } }} data @returns {Summary} */
function summarizeCapabilities({ capabilities, backOffice }) {
  const missing = capabilities.filter(({ available }) => !available).length
  return {
    number: t('{part} of {total}', { part: capabilities.length - missing, total: capabilities.length }),
    text:
      backOffice.driver === 'embedded'
        ? missing
          ? t('{missing} not available without another back office', { missing })
          : t('all available')
        : missing
          ? t('{missing} not available with {driver}', { missing, driver: nameDriver(backOffice.driver) })
          : t('all available ({driver})', { driver: nameDriver(backOffice.driver) }),
    // A missing feature is a property of the back office, not a problem.
    tone: missing ? 'idle' : 'good',
  }
}

/** @param {{ overview: Overview, page: string }} props `page`: the screen that explains missing features */
export function CapabilitiesCard({ overview, page }) {
  const section = useSection('capabilities', overview, () => callApi('/capabilities').then(({ data }) => data))
  return html`<${StatusCard} title="Features available" route=${linkTo(page)} section=${section} summarize=${summarizeCapabilities} />`
}
