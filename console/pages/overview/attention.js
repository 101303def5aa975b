import { Action } from '../../components/action.js'
import { Health, Timestamp, withoutCode } from '../../components/format.js'
import { getScreen, useHealth } from '../../components/health.js'
import { renderCode } from '../../components/problem.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { callApi, loadAll } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { linkTo } from '../../lib/route.js'
import { plural, rich, t } from '../../lib/text.js'
import { useSection } from './sections.js'

/** @typedef {import('../../components/health.js').HealthProblem} HealthProblem */

/**
 * What to do about an alert in the console. The API's remedy for these kinds names API paths or commands instead. `hasSubject` is false if
 * the subject of the alert is no record of the page.
 * @type {Record<string, { remedy: string, page: string[], label: string, role: string, hasSubject?: false }>}
 */
const consoleRemedies = {
  export_file_rejected: {
    remedy: t(
      'Correct the rejected lines, which are in `failed/` of the export folder, and import them. If the whole file was rejected, correct it and put it back. Then resolve the alert.',
    ),
    page: ['import'],
    label: t('Import corrected lines'),
    role: 'maintainer',
    hasSubject: false,
  },
  sync_failing: {
    remedy: t('The sync retries automatically. Its last runs show the error.'),
    page: ['syncs'],
    label: t('View runs'),
    role: 'visitor',
  },
  sync_stalled: {
    remedy: t('Check whether runs fail or take too long, and that a worker is running.'),
    page: ['syncs'],
    label: t('View runs'),
    role: 'visitor',
  },
  webhook_failing: {
    remedy: t('Check the latest attempts. Nothing is lost: delivery resumes when the endpoint responds.'),
    page: ['webhooks'],
    label: t('View attempts'),
    role: 'admin',
  },
  webhook_expired: {
    remedy: t(
      'Deleted records since its last delivery can no longer be reported. Replay from the beginning, then resume the webhook.',
    ),
    page: ['webhooks'],
    label: t('Open webhook'),
    role: 'admin',
  },
  voucher_pin_guessing: {
    remedy: t("Ask the holder. If it wasn't them, suspend the voucher. The block ends automatically."),
    page: ['search', 'voucher'],
    label: t('Open voucher'),
    role: 'admin',
  },
}

/** The button that retries, by kind of problem. @type {Record<string, { label: string, done: string, role: string, path: (subject: string) => string, body: object }>} */
const retries = {
  sync_unhealthy: {
    label: t('Sync now'),
    done: t('Sync queued'),
    role: 'maintainer',
    path: subject => `/syncs/${subject}/run`,
    body: { full: false },
  },
  webhook_unhealthy: {
    label: t('Retry now'),
    done: t('Delivery resumed'),
    role: 'admin',
    path: subject => `/webhooks/${subject}/resume`,
    body: {},
  },
}

/** The problems that need attention, with buttons and remedies. @param {{ overview: import('./sections.js').Overview }} props */
export function Attention({ overview }) {
  const { health, error, reload } = useHealth()
  const isMaintainer = useHasRole('maintainer')
  const problems = health?.problems ?? []
  const hasAlerts = problems.some(({ alert }) => alert)
  const alerts = useSection(
    'alerts',
    overview,
    async signal => (hasAlerts ? (await loadAll('/alerts', signal)).data : []),
    [health],
  )
  const container = useKeptFocus()
  const count = problems.length
  const title = !health
    ? t('Needs attention')
    : count === 0
      ? t('Nothing needs attention')
      : plural(count, '{count} problem needs attention', '{count} problems need attention')
  return html`<section class=${`attention ${health?.level ?? ''}`} aria-label="Needs attention" tabindex="-1" ref=${container}>
    <h2><${Health} state=${title} level=${health?.level ?? null} /></h2>
    ${!health && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${error && html`<div class="empty">The health couldn't be loaded.</div>`}
    ${count > 0 && html`<ul class="notices">${problems.map(problem => html`<${Notice} key=${`${problem.kind} ${problem.subject}`} problem=${problem} alert=${alerts.data?.find((/** @type {any} */ { id }) => id === problem.alert)} reload=${reload} />`)}</ul>`}
    ${!isMaintainer && html`<p class="note">Only maintainers and admins see alerts.</p>`}
  </section>`
}

/** @param {{ problem: HealthProblem, alert: any, reload: () => void }} props */
function Notice({ problem: { level, kind, subject, title, detail, since, alert: alertId }, alert, reload }) {
  const remedy = consoleRemedies[alert?.kind ?? kind]
  const page = remedy?.page ?? (alertId ? undefined : [getScreen(kind) ?? 'overview'])
  const canOpen = useHasRole(remedy?.role ?? 'visitor')
  const retry = retries[kind]
  const post = (/** @type {string} */ path, /** @type {object} */ body) =>
    callApi(path, { method: 'POST', body }).then(reload)
  return html`<li class=${`card notice ${level}`}>
    <div class="head">
      <p><b><${Health} state=${title} level=${level} /></b> ${since && html`<small>${alert?.times > 1 ? rich('{times} times, since {time}', { times: alert.times, time: html`<${Timestamp} time=${since} />` }) : rich('since {time}', { time: html`<${Timestamp} time=${since} />` })}</small>`}</p>
      <span class="choices">
        ${retry && html`<${Action} label=${retry.label} name=${`${retry.label}: ${title}`} role=${retry.role} done=${retry.done} work=${() => post(retry.path(encodeURIComponent(subject)), retry.body)} />`}
        ${alert && !alert.autoResolves && html`<${Action} label="Resolve" name=${t('Resolve: {title}', { title })} role="maintainer" done="Alert resolved" work=${() => post(`/alerts/${encodeURIComponent(alert.id)}/resolve`, {})} />`}
        ${page && canOpen && html`<a class="button" aria-label=${`${remedy?.label ?? t('Open')}: ${title}`} href=${linkTo(...page, ...(subject && remedy?.hasSubject !== false ? [subject] : []))}>${remedy?.label ?? t('Open')}</a>`}
      </span>
    </div>
    ${detail && html`<p>${consoleRemedies[kind] ? html`${subject}: ${withoutCode(detail)}` : withoutCode(detail)}</p>`}
    ${(remedy || alert) && html`<p>${renderCode(remedy?.remedy ?? alert.remedy)}</p>`}
    ${alert?.autoResolves && html`<p class="note">Resolves automatically</p>`}
  </li>`
}
