import { ask, everyPage } from '../ground/api.js'
import { html } from '../ground/html.js'
import { useMay } from '../ground/role.js'
import { Action } from '../parts/action.js'
import { duration, Moment } from '../parts/format.js'
import { useKeptFocus } from '../parts/kept-focus.js'
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
    <h2>Needs attention</h2>
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

/** What is late, against its schedule, and what failed. @param {any[]} late @param {any[]} failed */
function badWords(late, failed) {
  const [first] = late
  if (late.length > 1 || !first) return `${late.length} late, ${failed.length} failed`
  const age = first.lagSeconds === null ? 'never brought' : `${duration(first.lagSeconds)} old`
  return `${first.feed} is late: ${age}, due every ${duration(first.everySeconds)}`
}

const Feeds = () => html`<${Counted}
  load=${() => ask('/feeds').then(answer => answer.data)}
  show=${(/** @type {any[]} */ feeds) => {
    const late = feeds.filter(({ isLate }) => isLate)
    const failed = feeds.filter(({ state }) => state === 'failed')
    const bad = late.length + failed.length > 0
    const words = feeds.length === 0 ? 'nothing is pulled' : bad ? badWords(late, failed) : 'all in time'
    return html`<${Figure} title="Feeds" place=${['feeds']} number=${feeds.length} words=${words} tone=${bad ? 'bad' : feeds.length ? 'good' : 'idle'} />`
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
    return html`<${Figure} title="Webhooks" place=${['webhooks']} number=${webhooks.length} words=${words} tone=${failing ? 'bad' : webhooks.length ? 'good' : 'idle'} />`
  }}
/>`

/** @param {{ place: string }} props */
const Lacking = ({ place }) => html`<${Counted}
  load=${() => ask('/capabilities').then(answer => answer.data)}
  show=${(/** @type {any} */ { capabilities, backOffice }) => {
    const lacking = capabilities.filter((/** @type {any} */ { available }) => !available).length
    const number = `${capabilities.length - lacking} of ${capabilities.length}`
    return html`<${Figure} title="Capabilities" place=${[place]} number=${number} words=${`${lacking ? `${lacking} missing` : 'all available'} (${backOffice.driver})`} tone=${lacking ? 'warn' : 'good'} />`
  }}
/>`

function Alerts() {
  const may = useMay('maintainer')
  const { data, error, reload } = useLoad(async () => (may ? all('/alerts') : []), [])
  const place = useKeptFocus()
  return html`<section aria-label="Alerts" tabindex="-1" ref=${place}>
    ${may ? html`<${Listed} data=${data} error=${error} reload=${reload} />` : html`<div class="empty">Alerts are shown to maintainers and admins.</div>`}
  </section>`
}

/** @param {{ data: any[] | undefined, error: unknown, reload: () => void }} props */
function Listed({ data, error, reload }) {
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  if (data.length === 0) return html`<div class="empty">Nothing needs attention.</div>`
  return html`<ul class="notices">
    ${data.map(
      alert => html`<li key=${alert.id} class="card notice">
        <div class="head">
          <p><b>${alert.title}</b> <small>${alert.times > 1 ? `${alert.times} times, last ` : ''}<${Moment} moment=${alert.lastAt} /></small></p>
          ${!alert.settlesItself && html`<${Action} label="Mark as settled" name=${`Mark as settled: ${alert.title}`} role="maintainer" work=${() => ask(`/alerts/${encodeURIComponent(alert.id)}/settle`, { method: 'POST', body: {} }).then(reload)} />`}
        </div>
        <p>${alert.detail}</p>
        <p>${inCode(alert.wayOut)}</p>
        ${alert.settlesItself && html`<p class="note">It goes by itself once what it is about is well again.</p>`}
      </li>`,
    )}
  </ul>`
}
