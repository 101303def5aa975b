import { useState } from 'preact/hooks'
import { useRange } from '../components/bars.js'
import { Path, State, Timestamp } from '../components/format.js'
import { List } from '../components/list.js'
import { RequestChart } from '../components/request-chart.js'
import { RequestLink } from '../components/request-link.js'
import { useLoad, useVersion } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { goTo, linkTo } from '../lib/route.js'
import { rich, t } from '../lib/text.js'
import { Errors } from './requests/errors.js'
import { FilterChips, SearchForm } from './requests/form.js'
import { durationColumn, getStatusTone } from './requests/format.js'
import { RequestPage, RequestPanel } from './requests/request.js'
import { linkToInterval, linkToSearch, parseSearch, toApiPath } from './requests/search.js'

/** @param {(entry: any) => void} open @returns {import('../components/table.js').Column[]} */
const columns = open => [
  {
    title: t('Time'),
    value: entry => html`<button class="link" onClick=${() => open(entry)}><${Timestamp} time=${entry.at} /></button>`,
    text: entry => entry.at,
    shrink: true,
  },
  {
    title: t('Status'),
    value: entry => html`<${State} state=${entry.status} tone=${getStatusTone(entry.status)} />`,
    text: entry => String(entry.status),
  },
  { title: t('Error'), value: entry => entry.code, shrink: true },
  {
    title: t('Operation'),
    value: ({ operation }) => {
      const [method, path] = operation.split(' ')
      return html`<span class="method">${method}</span> ${path}`
    },
    text: entry => entry.operation,
  },
  {
    title: t('Record'),
    // The path of a list is its operation.
    value: entry =>
      entry.operation.endsWith(` ${entry.record}`) ? null : html`<${Path} path=${entry.record} short />`,
    text: entry => entry.record,
    wide: true,
  },
  { title: t('Account'), value: entry => entry.account },
  durationColumn(t('Duration'), entry => entry.milliseconds),
  {
    title: t('Request'),
    value: entry => html`<${RequestLink} id=${entry.id} short />`,
    text: entry => entry.id,
    shrink: true,
  },
]

/** Filters that match few requests, so there is nothing to group. */
const narrowFilters = ['request_id', 'idempotency_key', 'code']

/** The request log and its search, or one request. @param {{ parts: string[] }} props */
export const Screen = ({ parts: [first, text] }) =>
  first !== undefined && text === undefined && first !== 'search'
    ? html`<${RequestPage} key=${first} id=${first} />`
    : html`<${Requests} text=${text} />`

/** @param {{ text: string | undefined }} props */
function Requests({ text }) {
  const search = parseSearch(text)
  const [version, refresh] = useVersion()
  const [shown, setShown] = useState(/** @type {any} */ (undefined))
  const settings = useLoad(signal => callApi('/settings', { signal }), [])
  const days = settings.data?.data.requestLogRetentionDays
  const { range, tools, keepRange } = useRange()
  const isNarrow = narrowFilters.some(name => name in search) || search.failed === 'false'
  const run = (/** @type {import('./requests/search.js').Search} */ next) => {
    if (Object.keys(next).length === 0) goTo('requests')
    else location.hash = keepRange(linkToSearch(next))
    // The same search again loads new requests.
    refresh()
  }
  return html`<h1>Request log</h1>
    <p class="lead">${rich("API requests of the last <link>{count} days</link>. Request bodies and query strings aren't stored.", { count: days ?? '…', link: content => html`<a href=${linkTo('settings')}>${content}</a>` })}</p>
    <${RequestChart} title="API requests" range=${range} tools=${tools} minute=${version} link=${(/** @type {string} */ from, /** @type {string} */ until) => keepRange(linkToInterval(from, until, search))} />
    <${FilterChips} search=${search} run=${run} />
    <${SearchForm} search=${search} run=${run} />
    ${shown && html`<${RequestPanel} entry=${shown} close=${() => setShown(undefined)} />`}
    ${!isNarrow && html`<${Errors} search=${search} version=${version} />`}
    <${List}
      path=${toApiPath(search)}
      caption="Requests, newest first"
      columns=${columns(setShown)}
      open=${setShown}
      version=${version}
      getKey=${(/** @type {any} */ entry) => `${entry.id} ${entry.at}`}
      file="requests"
      empty=${renderEmptyText(days, Object.keys(search).length > 0)}
      tools=${html`<h2>${Object.keys(search).length ? t('Results') : t('Latest')}</h2>`}
    />`
}

/** @param {number | undefined} days @param {boolean} hasFilters */
function renderEmptyText(days, hasFilters) {
  if (days === 0)
    return html`${rich("Requests aren't logged, because the setting <code>requestLogRetentionDays</code> is 0.")} <a href=${linkTo('settings')}>Settings</a>`
  return hasFilters
    ? t('No matching requests. Try fewer filters or another time range. Paths, records and IDs must match exactly.')
    : t('No requests yet.')
}
