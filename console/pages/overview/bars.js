import { assessSync, assessWebhook, formatDuration } from 'tillbridge/health'
import { State } from '../../components/format.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { plural, t } from '../../lib/text.js'
import { formatNextAttempt, formatSuccess } from '../webhooks/deliveries.js'
import { useSection } from './sections.js'

/** @typedef {import('../../components/format.js').Tone} Tone */
/** @typedef {{ key: string, name: string, route: string, share: number, text: string, tone: Tone }} Row */

const tones = /** @type {const} */ ({ ok: 'good', degraded: 'warn', critical: 'bad' })
/** @param {import('tillbridge/health').Assessment['level']} level @returns {Tone} */
const toTone = level => (level ? tones[level] : 'idle')

/** Records with a bar each. A row links to its records. @param {{ title: string, rows: Row[] }} props `share`: the filled part, from 0 to 1 */
const BarList = ({ title, rows }) => html`<section class="card bar-list" aria-label=${title}>
  <h2 class="small-title">${title}</h2>
  <ul class="bar-rows">
    ${rows.map(
      ({ key, name, route, share, text, tone }) => html`<li key=${key} class="bar-row">
      <a class="bar-name" href=${route}>${name}</a>
      <span class="track" aria-hidden="true"><span class=${`fill ${tone}`} style=${{ width: `${100 * Math.min(1, share)}%` }}></span></span>
      <${State} state=${text} tone=${tone} />
    </li>`,
    )}
  </ul>
</section>`

/** The age of each sync's data against its schedule. @param {{ syncs: any[] }} props */
export function Freshness({ syncs }) {
  const scheduled = syncs.filter(({ intervalSeconds, lagSeconds }) => intervalSeconds !== null && lagSeconds !== null)
  if (scheduled.length === 0) return null
  const rows = scheduled.map(sync => ({
    key: sync.sync,
    name: sync.sync,
    route: linkTo('syncs', sync.sync),
    share: sync.lagSeconds / (sync.intervalSeconds || 1),
    text: t('{age} old, due every {interval}', {
      age: formatDuration(sync.lagSeconds),
      interval: formatDuration(sync.intervalSeconds),
    }),
    tone: toTone(assessSync(sync).level),
  }))
  return html`<${BarList} title="Data freshness" rows=${rows} />`
}

/** The share of successful attempts of each webhook in 24 hours. @param {{ webhooks: any[], overview: import('./sections.js').Overview }} props */
export function Deliveries({ webhooks, overview }) {
  const { data } = useSection('deliveries', overview, signal =>
    callApi('/console/webhooks', { signal }).then(response => response.data),
  )
  if (!data || webhooks.length === 0) return null
  const rows = webhooks.map(webhook => {
    const deliveries = data.find((/** @type {any} */ { id }) => id === webhook.id) ?? { delivered: 0, failed: 0 }
    const count = deliveries.delivered + deliveries.failed
    const { level } = assessWebhook(webhook)
    const success = plural(count, '{success} of {count} attempt', '{success} of {count} attempts', {
      success: formatSuccess(deliveries),
    })
    const next =
      deliveries.nextAttemptAt && deliveries.failures && t('next attempt {due}', { due: formatNextAttempt(deliveries) })
    return {
      key: webhook.id,
      name: webhook.description || webhook.url,
      route: linkTo('webhooks', webhook.id),
      share: count ? deliveries.delivered / count : 0,
      text: count ? [success, next].filter(Boolean).join(' · ') : t('no attempts in 24 h'),
      tone: count || level !== 'ok' ? toTone(level) : 'idle',
    }
  })
  return html`<${BarList} title="Webhook deliveries, 24 h" rows=${rows} />`
}

const kindNames = /** @type {const} */ ({ stores: t('Stores'), skus: t('SKUs'), customers: t('Customers') })

/** The share of matched mappings of each kind. @param {{ overview: import('./sections.js').Overview }} props */
export function MappingHealth({ overview }) {
  const { data } = useSection('mappings', overview, signal =>
    callApi('/mappings/check', { signal }).then(response => response.data),
  )
  /** @type {Row[]} */
  const rows = (data ?? []).flatMap((/** @type {any} */ { kind, states }) => {
    const total = Object.values(states).reduce((sum, count) => sum + Number(count), 0)
    const problems = total - states.matched - states.unverified
    if (total === 0 || states.unverified === total) return []
    return {
      key: kind,
      name: kindNames[/** @type {keyof typeof kindNames} */ (kind)],
      route: linkTo('mappings', 'check', kind),
      share: states.matched / total,
      text: problems
        ? t('{percent} % matched, {problems} to review', {
            percent: Math.floor((100 * states.matched) / total),
            problems,
          })
        : t('{percent} % matched', { percent: Math.floor((100 * states.matched) / total) }),
      tone: problems ? 'warn' : 'good',
    }
  })
  return rows.length > 0 && html`<${BarList} title="Mappings" rows=${rows} />`
}
