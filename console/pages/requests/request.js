import { remedies } from 'tillbridge/remedies'
import { Button } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Facts, State, Timestamp } from '../../components/format.js'
import { Problem, renderCode } from '../../components/problem.js'
import { RequestLink } from '../../components/request-link.js'
import { Copy } from '../../components/secret.js'
import { useLoad } from '../../components/use-load.js'
import { ApiError, callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { findRecordRoute } from '../../lib/record-lists.js'
import { linkTo } from '../../lib/route.js'
import { rich, t } from '../../lib/text.js'
import { formatTime } from '../../lib/time.js'
import { Effects } from './effects.js'
import { formatMs, getStatusTone } from './format.js'
import { linkToSearch } from './search.js'
import { Timings } from './timings.js'

/** @param {{ operation: string, status: number }} request */
const formatTitle = ({ operation, status }) => `${operation} → ${status}`

/** A logged request on its own page. @param {{ id: string }} props */
export function RequestPage({ id }) {
  const loaded = useRequest(id)
  return html`<p class="trail"><a href=${linkTo('requests')}>Request log</a></p>
    <h1 class="address">${loaded.data ? formatTitle(loaded.data) : t('Request')}</h1>
    <p class="trail"><code>${id}</code> <${Copy} name=${t('Copy the request ID')} value=${id} /></p>
    <${LoadedRequest} ...${loaded} />`
}

/** A logged request next to the list. @param {{ entry: any, close: () => void }} props */
export function RequestPanel({ entry, close }) {
  const loaded = useRequest(entry.id)
  return html`<${Dialog} title=${formatTitle(entry)} isPanel close=${close}>
    <p>${rich('Request {link}', { link: html`<${RequestLink} id=${entry.id} />` })}</p>
    <${LoadedRequest} ...${loaded} />
  <//>`
}

/** @param {string} id */
const useRequest = id => useLoad(signal => findRequest(id, signal), [id])

/** A logged request with its timing and effects. @param {ReturnType<typeof useRequest>} props */
function LoadedRequest({ data, error, busy, reload }) {
  return html`${error && html`<${Problem} error=${error} />`}
    ${data === undefined && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${
      data === null &&
      html`<div class="empty">
        <p>${rich('Request not found. A request is logged a few seconds after its response, and deleted after the days of the setting <code>requestLogRetentionDays</code>. Requests that were rejected before their service was known are never logged.')}</p>
        <p><${Button} label="Try again" busyLabel="Loading…" busy=${busy} onClick=${reload} /></p>
      </div>`
    }
    ${data && html`<${RequestDetails} request=${data} />`}`
}

/** @param {{ request: any }} props */
function RequestDetails({ request }) {
  const recordRoute = findRecordRoute(request.record)
  return html`<div class="card">
      <${Facts}
        facts=${[
          [t('Status'), html`<${State} state=${request.status} tone=${getStatusTone(request.status)} />`],
          [
            t('Error'),
            request.code &&
              html`<a href=${`errors/${request.code}`} target="_blank" rel="noopener">${request.code}</a>`,
          ],
          [t('Operation'), request.operation],
          [t('Account'), request.account],
          [t('Time'), html`<${Timestamp} time=${request.at} /> <small>${formatTime(request.at)}</small>`],
          [t('Duration'), formatMs(request.milliseconds)],
          [t('Idempotency key'), request.hasIdempotencyKey ? t('sent') : t('none')],
          [t('Path'), html`<code>${request.path}</code>`, 'wide'],
          [
            t('Record'),
            html`<code>${request.record}</code>${recordRoute && html` <small class="shrink"><a href=${linkTo(...recordRoute)}>open record</a></small>`}`,
            'wide',
          ],
        ]}
      />
      ${remedies[request.code] && html`<p>${renderCode(remedies[request.code])}</p>`}
      <p class="choices">
        <a href=${linkToSearch({ record: request.record })}>Requests about this record</a>
        ${request.code && html`<a href=${linkToSearch({ code: request.code })}>Requests with this error</a>`}
        <a href=${linkToSearch({ account: request.account })}>Requests of this account</a>
      </p>
    </div>
    <${Timings} request=${request} />
    <h2>Effects</h2>
    <${Effects} request=${request} />`
}

/**
 * Returns a logged request, or null if it doesn't exist. Waits up to 3 s, because a link from a new error can be followed before the request is logged.
 * @param {string} id @param {AbortSignal} signal
 */
async function findRequest(id, signal) {
  for (let attempt = 1; ; attempt++)
    try {
      return (await callApi(`/requests/${encodeURIComponent(id)}`, { signal })).data
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem.code !== 'not_found') throw error
      if (attempt === 4) return null
      await new Promise(resolve => setTimeout(resolve, 1_000))
    }
}
