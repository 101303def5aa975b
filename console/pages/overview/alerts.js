import { Action } from '../../components/action.js'
import { State, Timestamp } from '../../components/format.js'
import { renderCode } from '../../components/problem.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { callApi, loadAll } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo } from '../../lib/route.js'
import { useSection } from './sections.js'

/**
 * What to do about an alert in the console. The API's remedy for these kinds names API paths instead.
 * @type {Record<string, { remedy: string, page: string[], label: string, role: string }>}
 */
const consoleRemedies = {
  sync_failing: {
    remedy: 'The sync retries automatically. Its last runs show the error.',
    page: ['syncs'],
    label: 'View runs',
    role: 'visitor',
  },
  sync_stalled: {
    remedy: 'Check whether runs fail or take too long, and that a worker is running.',
    page: ['syncs'],
    label: 'View runs',
    role: 'visitor',
  },
  webhook_failing: {
    remedy: 'Check the latest attempts. Nothing is lost: delivery resumes when the endpoint responds.',
    page: ['webhooks'],
    label: 'View attempts',
    role: 'admin',
  },
  webhook_expired: {
    remedy:
      'Deleted records since its last delivery can no longer be reported. Replay from the beginning, then resume the webhook.',
    page: ['webhooks'],
    label: 'Open webhook',
    role: 'admin',
  },
  voucher_pin_guessing: {
    remedy: "Ask the holder. If it wasn't them, suspend the voucher. The block ends automatically.",
    page: ['search', 'voucher'],
    label: 'Open voucher',
    role: 'admin',
  },
}

/** Returns the key of the problem that an alert is about, if `findProblems` can find it too. @param {any} alert */
const getProblemKey = ({ kind, subject }) => `${/^(sync|webhook)_/.exec(kind)?.[1] ?? 'alert'} ${subject}`

/**
 * Current problems and unresolved alerts, with their remedies.
 * @param {{ overview: import('./sections.js').Overview, problems: import('./problems.js').Problem[] | undefined, reload: () => void }} props
 * `problems`: undefined while loading
 */
export function Alerts({ overview, problems, reload }) {
  const isMaintainer = useHasRole('maintainer')
  const alerts = useSection('alerts', overview, async () => (isMaintainer ? (await loadAll('/alerts')).data : []))
  const container = useKeptFocus()
  const alertKeys = new Set(alerts.data?.map(getProblemKey))
  const shownProblems = problems?.filter(({ key }) => !alertKeys.has(key)) ?? []
  const isLoading = !problems || (!alerts.data && !alerts.isFailed)
  const isEmpty = !isLoading && !alerts.isFailed && shownProblems.length + (alerts.data?.length ?? 0) === 0
  return html`<section aria-label="Alerts" tabindex="-1" ref=${container}>
    ${isLoading && html`<p class="opening" role="status">Loading…</p>`}
    ${alerts.isFailed && html`<div class="empty">Alerts couldn't be loaded.</div>`}
    ${isEmpty && html`<div class="empty">Nothing needs attention.</div>`}
    ${
      !isLoading &&
      !isEmpty &&
      html`<ul class="notices">
        ${shownProblems.map(problem => html`<${ProblemNotice} key=${problem.key} problem=${problem} reload=${reload} />`)}
        ${alerts.data?.map((/** @type {any} */ alert) => html`<${AlertNotice} key=${alert.id} alert=${alert} reload=${alerts.reload} />`)}
      </ul>`
    }
    ${!isMaintainer && html`<p class="note">Only maintainers and admins see alerts.</p>`}
  </section>`
}

/** @param {{ problem: import('./problems.js').Problem, reload: () => void }} props */
const ProblemNotice = ({ problem: { title, detail, tone, route, action }, reload }) => html`<li class="card notice">
  <div class="head">
    <p><b><${State} state=${title} tone=${tone} /></b></p>
    ${action && html`<${Action} label=${action.label} name=${`${action.label}: ${title}`} role=${action.role} work=${() => callApi(action.path, { method: 'POST', body: action.body }).then(reload)} />`}
  </div>
  ${detail && html`<p>${detail}</p>`}
  <p><a href=${linkTo(...route)}>View details</a></p>
</li>`

/** @param {{ alert: any, reload: () => void }} props */
function AlertNotice({ alert, reload }) {
  const { id, kind, subject, title, detail, remedy, times, lastAt, autoResolves } = alert
  const inConsole = consoleRemedies[kind]
  const canOpen = useHasRole(inConsole?.role ?? 'admin')
  return html`<li class="card notice">
    <div class="head">
      <p><b>${title}</b> <small>${times > 1 ? `${times} times, last ` : ''}<${Timestamp} time=${lastAt} /></small></p>
      ${!autoResolves && html`<${Action} label="Resolve" name=${`Resolve: ${title}`} role="maintainer" work=${() => callApi(`/alerts/${encodeURIComponent(id)}/resolve`, { method: 'POST', body: {} }).then(reload)} />`}
    </div>
    <p>${subject && inConsole ? html`${subject}: ${detail}` : detail}</p>
    <p>${renderCode(inConsole?.remedy ?? remedy)} ${inConsole && canOpen && html`<a href=${linkTo(...inConsole.page, subject)}>${inConsole.label}</a>`}</p>
    ${autoResolves && html`<p class="note">Resolves automatically</p>`}
  </li>`
}
