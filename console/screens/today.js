import { ask, everyPage } from '../ground/api.js'
import { html } from '../ground/html.js'
import { useMay } from '../ground/role.js'
import { Action } from '../parts/action.js'
import { duration, Moment } from '../parts/format.js'
import { inCode, Problem } from '../parts/problem.js'
import { useLoad } from '../parts/use-load.js'
import { Figure } from './today/figure.js'
import { Figures } from './today/figures.js'

/** Is everything well? What has to be looked at, and what is late or behind. */
export function Screen() {
  const isAdmin = useMay('admin')
  return html`<h1>Today</h1>
    <p class="lead">Is everything well? Each figure leads to its screen.</p>
    <div class="figures">
      <${Feeds} />
      ${isAdmin && html`<${Webhooks} />`}
      <${Lacking} place=${isAdmin ? 'settings' : 'today'} />
    </div>
    <${Figures} />
    <h2>What has to be looked at</h2>
    <${Alerts} />`
}

/** @param {string} path @returns {Promise<any[]>} */
async function all(path) {
  const found = []
  for await (const page of everyPage(path)) found.push(...page)
  return found
}

/** A figure once it is there. @param {{ load: () => Promise<any>, show: (data: any) => unknown }} props */
function Counted({ load, show }) {
  const { data, error } = useLoad(load, [])
  if (error) return html`<${Problem} error=${error} />`
  return data === undefined
    ? html`<div class="figure card"><span class="opening" role="status">Loading…</span></div>`
    : show(data)
}

const Feeds = () => html`<${Counted}
  load=${() => ask('/feeds').then(answer => answer.data)}
  show=${(/** @type {any[]} */ feeds) => {
    const late = feeds.filter(({ isLate }) => isLate)
    const failed = feeds.filter(({ state }) => state === 'failed')
    const bad = late.length + failed.length > 0
    const words =
      feeds.length === 0 ? 'nothing is pulled' : bad ? `${late.length} late, ${failed.length} failed` : 'all in time'
    return html`<${Figure} title="Feeds" place=${['feeds']} number=${feeds.length} words=${words} tone=${bad ? 'bad' : 'good'} />`
  }}
/>`

const Webhooks = () => html`<${Counted}
  load=${() => all('/webhooks')}
  show=${(/** @type {any[]} */ webhooks) => {
    const failing = webhooks.filter(({ state }) => state === 'failing').length
    const behind = Math.max(0, ...webhooks.map(each => each.behind.seconds))
    const words =
      webhooks.length === 0
        ? 'nobody is told'
        : failing
          ? `${failing} failing`
          : behind
            ? `behind by ${duration(behind)}`
            : 'none is behind'
    return html`<${Figure} title="Webhooks" place=${['webhooks']} number=${webhooks.length} words=${words} tone=${failing ? 'bad' : 'good'} />`
  }}
/>`

/** @param {{ place: string }} props */
const Lacking = ({ place }) => html`<${Counted}
  load=${() => ask('/capabilities').then(answer => answer.data)}
  show=${(/** @type {any} */ { capabilities, backOffice }) => {
    const lacking = capabilities.filter((/** @type {any} */ { available }) => !available).length
    const number = `${capabilities.length - lacking} of ${capabilities.length}`
    return html`<${Figure} title=${`What works (${backOffice.driver})`} place=${[place]} number=${number} words=${lacking ? `${lacking} missing` : 'all of it'} tone=${lacking ? 'warn' : 'good'} />`
  }}
/>`

function Alerts() {
  const may = useMay('maintainer')
  const { data, error, reload } = useLoad(async () => (may ? all('/alerts') : []), [])
  if (!may) return html`<div class="empty">Alerts are shown to maintainers and admins.</div>`
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  if (data.length === 0) return html`<div class="empty">Nothing has to be looked at.</div>`
  return html`<ul class="notices">
    ${data.map(
      alert => html`<li key=${alert.id} class="card">
        <p><b>${alert.title}</b> <small>${alert.times > 1 ? `${alert.times} times, ` : ''}last <${Moment} moment=${alert.lastAt} /></small></p>
        <p>${alert.detail}</p>
        <p>${inCode(alert.wayOut)}</p>
        ${
          alert.settlesItself
            ? html`<p class="note">It goes by itself once what it is about is well again.</p>`
            : html`<p class="choices"><${Action} label="Settled" role="maintainer" work=${() => ask(`/alerts/${encodeURIComponent(alert.id)}/settle`, { method: 'POST', body: {} }).then(reload)} /></p>`
        }
      </li>`,
    )}
  </ul>`
}
