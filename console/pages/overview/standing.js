import { duration } from '../../components/format.js'
import { ask } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { Figure } from './figure.js'
import { usePart, wholeList } from './part.js'

/** @typedef {import('./part.js').Overview} Overview */
/** @typedef {{ number: unknown, words: string, tone: 'good' | 'bad' | 'warn' | 'idle' }} Shown */

/**
 * A figure once it is there.
 * @param {{ title: string, place: string[], overview: Overview, load: () => Promise<any>, show: (data: any) => Shown }} props
 */
function Counted({ title, place, overview, load, show }) {
  const { data, isLacking } = usePart(title, overview, load)
  const unknown = /** @type {const} */ ({ number: '–', words: 'not known', tone: 'bad' })
  if (data === undefined && !isLacking)
    return html`<div class="figure card"><span class="opening" role="status">Loading…</span></div>`
  return html`<${Figure} title=${title} place=${place} ...${isLacking ? unknown : show(data)} />`
}

/** What is late, against its schedule, and what failed. @param {any[]} late @param {any[]} failed */
function badWords(late, failed) {
  const [first] = late
  if (late.length > 1 || !first) return `${late.length} late, ${failed.length} failed`
  const age = first.lagSeconds === null ? 'never brought' : `${duration(first.lagSeconds)} old`
  return `${first.sync} is late: ${age}, due every ${duration(first.intervalSeconds)}`
}

/** @param {any[]} syncs @returns {Shown} */
function syncsShown(syncs) {
  const late = syncs.filter(({ isOverdue }) => isOverdue)
  const failed = syncs.filter(({ state }) => state === 'failed')
  const number = syncs.length
  if (number === 0) return { number, words: 'nothing is pulled', tone: 'idle' }
  if (late.length + failed.length > 0) return { number, words: badWords(late, failed), tone: 'bad' }
  return { number, words: 'all in time', tone: 'good' }
}

/** @param {{ overview: Overview }} props */
export const Syncs = ({ overview }) => html`<${Counted}
  title="Syncs"
  place=${['syncs']}
  overview=${overview}
  load=${() => ask('/syncs').then(answer => answer.data)}
  show=${syncsShown}
/>`

/** @param {any[]} webhooks @returns {Shown} */
function webhooksShown(webhooks) {
  const failing = webhooks.filter(({ state }) => state === 'failing').length
  const behind = Math.max(0, ...webhooks.map(each => each.lag.seconds))
  const number = webhooks.length
  if (number === 0) return { number, words: 'nobody is told', tone: 'idle' }
  if (failing) return { number, words: `${failing} failing`, tone: 'bad' }
  return { number, words: behind ? `behind by ${duration(behind)}` : 'none is behind', tone: 'good' }
}

/** @param {{ overview: Overview }} props */
export const Webhooks = ({ overview }) => html`<${Counted}
  title="Webhooks"
  place=${['webhooks']}
  overview=${overview}
  load=${() => wholeList('/webhooks')}
  show=${webhooksShown}
/>`

/** @param {{ capabilities: any[], backOffice: { driver: string } }} data @returns {Shown} */
function capabilitiesShown({ capabilities, backOffice }) {
  const lacking = capabilities.filter(({ available }) => !available).length
  const words = `${lacking ? `${lacking} missing` : 'all available'} (${backOffice.driver})`
  return {
    number: `${capabilities.length - lacking} of ${capabilities.length}`,
    words,
    tone: lacking ? 'warn' : 'good',
  }
}

/** @param {{ overview: Overview, place: string }} props */
export const Capabilities = ({ overview, place }) => html`<${Counted}
  title="Capabilities"
  place=${[place]}
  overview=${overview}
  load=${() => ask('/capabilities').then(answer => answer.data)}
  show=${capabilitiesShown}
/>`
