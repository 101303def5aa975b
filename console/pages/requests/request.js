import { remedies } from 'tillbridge/remedies'
import { Button } from '../../components/button.js'
import { Facts, State, Timestamp } from '../../components/format.js'
import { Problem, renderCode } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { ApiError, callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { Effects } from './effects.js'
import { formatMs, getStatusTone } from './format.js'
import { linkToSearch } from './search.js'
import { Timings } from './timings.js'

/** Where a record is looked up, by the beginning of its path. @type {Record<string, string>} */
const kinds = {
  customers: 'customer',
  orders: 'order',
  returns: 'return',
  transactions: 'sale',
  products: 'product',
  vouchers: 'voucher',
}

/** One request: what it came to, what took its time, and what it left behind. @param {{ id: string }} props */
export function RequestPage({ id }) {
  const { data, error, busy, reload } = useLoad(signal => findRequest(id, signal), [id])
  return html`<p class="trail"><a href=${linkTo('requests')}>Requests</a></p>
    <h1 class="address">${id}</h1>
    ${error && html`<${Problem} error=${error} />`}
    ${data === undefined && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${
      data === null &&
      html`<div class="empty">
        <p>No request with this id is kept. It is there a second or two after its answer, for as many days as the setting requestLogRetentionDays says; what was refused before its service was known is never there.</p>
        <p><${Button} label="Look again" doing="Looking…" busy=${busy} onClick=${reload} /></p>
      </div>`
    }
    ${data && html`<${RequestDetails} request=${data} />`}`
}

/** @param {{ request: any }} props */
function RequestDetails({ request }) {
  const [, kind = '', id = ''] = /^\/([a-z]+)\/([^/]+)$/.exec(request.record) ?? []
  const about = Object.hasOwn(kinds, kind) && kinds[kind]
  return html`<div class="card">
      <${Facts}
        facts=${[
          ['Answer', html`<${State} state=${request.status} tone=${getStatusTone(request.status)} />`],
          [
            'Error',
            request.code &&
              html`<a href=${`errors/${request.code}`} target="_blank" rel="noopener">${request.code}</a>`,
          ],
          ['Operation', request.operation],
          ['Account', request.account],
          ['Answered', html`<${Timestamp} moment=${request.at} /> <small class="shrink">${request.at}</small>`],
          ['Took', formatMs(request.milliseconds)],
          ['Idempotency key', request.hasIdempotencyKey ? 'yes' : 'none'],
          ['Path', html`<code>${request.path}</code>`, 'wide'],
          [
            'Record',
            html`<code>${request.record}</code>${about && html` <small class="shrink"><a href=${linkTo('search', about, decodeURIComponent(id))}>look up</a></small>`}`,
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
    <h2>What it left behind</h2>
    <${Effects} request=${request} />`
}

/**
 * A request by its id, null where none is kept. Whoever follows a link from an error that they have just seen is there before its line.
 * @param {string} id @param {AbortSignal} signal
 */
async function findRequest(id, signal) {
  for (let times = 1; ; times++)
    try {
      return (await callApi(`/requests/${encodeURIComponent(id)}`, { signal })).data
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem.code !== 'not_found') throw error
      if (times === 4) return null
      await new Promise(done => setTimeout(done, 1_000))
    }
}
