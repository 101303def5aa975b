import { Action } from '../../components/action.js'
import { Timestamp } from '../../components/format.js'
import { renderCode } from '../../components/problem.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { callApi, loadAll } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { useSection } from './sections.js'

/**
 * Unresolved alerts with their remedies.
 * @param {{ overview: import('./sections.js').Overview }} props
 */
export function Alerts({ overview }) {
  const isMaintainer = useHasRole('maintainer')
  const { data, isFailed, reload } = useSection('alerts', overview, async () =>
    isMaintainer ? (await loadAll('/alerts')).data : [],
  )
  const container = useKeptFocus()
  return html`<section aria-label="Alerts" tabindex="-1" ref=${container}>
    ${isMaintainer ? html`<${AlertList} data=${data} isFailed=${isFailed} reload=${reload} />` : html`<div class="empty">Alerts are shown to maintainers and admins.</div>`}
  </section>`
}

/** @param {{ data: any[] | undefined, isFailed: boolean, reload: () => void }} props */
function AlertList({ data, isFailed, reload }) {
  if (isFailed) return html`<div class="empty">Alerts couldn't be loaded.</div>`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  if (data.length === 0) return html`<div class="empty">Nothing needs attention.</div>`
  return html`<ul class="notices">
    ${data.map(
      alert => html`<li key=${alert.id} class="card notice">
        <div class="head">
          <p><b>${alert.title}</b> <small>${alert.times > 1 ? `${alert.times} times, last ` : ''}<${Timestamp} time=${alert.lastAt} /></small></p>
          ${!alert.autoResolves && html`<${Action} label="Resolve" name=${`Resolve: ${alert.title}`} role="maintainer" work=${() => callApi(`/alerts/${encodeURIComponent(alert.id)}/resolve`, { method: 'POST', body: {} }).then(reload)} />`}
        </div>
        <p>${alert.detail}</p>
        <p>${renderCode(alert.remedy)}</p>
        ${alert.autoResolves && html`<p class="note">Resolves automatically</p>`}
      </li>`,
    )}
  </ul>`
}
