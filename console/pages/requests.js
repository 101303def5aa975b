import { Path, State, Timestamp } from '../components/format.js'
import { List } from '../components/list.js'
import { RequestLink } from '../components/request-link.js'
import { useLoad, useVersion } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { goTo, linkTo } from '../lib/route.js'
import { Errors } from './requests/errors.js'
import { SearchForm } from './requests/form.js'
import { durationColumn, getStatusTone } from './requests/format.js'
import { RequestPage } from './requests/request.js'
import { linkToSearch, parseSearch, toApiPath } from './requests/search.js'

/** @type {import('../components/table.js').Column[]} */
const columns = [
  { title: 'When', value: line => html`<${Timestamp} moment=${line.at} />`, text: line => line.at, shrink: true },
  {
    title: 'Status',
    value: line => html`<${State} state=${line.status} tone=${getStatusTone(line.status)} />`,
    text: line => String(line.status),
  },
  { title: 'Error', value: line => line.code, shrink: true },
  { title: 'Operation', value: line => line.operation },
  {
    title: 'Record',
    value: line => html`<${Path} path=${line.record} short />`,
    text: line => line.record,
    wide: true,
  },
  { title: 'Account', value: line => line.account },
  durationColumn('Took', line => line.milliseconds),
  {
    title: 'Request',
    value: line => html`<${RequestLink} id=${line.id} short />`,
    text: line => line.id,
    shrink: true,
  },
]

/** Names of which there is one request, or next to none: nothing to group. */
const narrowFilters = ['request_id', 'idempotency_key', 'code']

/** What was asked, and what became of it: found by what is known of a request. @param {{ parts: string[] }} props */
export const Screen = ({ parts: [first, text] }) =>
  first !== undefined && text === undefined && first !== 'search'
    ? html`<${RequestPage} key=${first} id=${first} />`
    : html`<${Requests} text=${text} />`

/** @param {{ text: string | undefined }} props */
function Requests({ text }) {
  const search = parseSearch(text)
  const [version, again] = useVersion()
  const settings = useLoad(signal => callApi('/settings', { signal }), [])
  const days = settings.data?.data.requestLogRetentionDays
  const isNarrow = narrowFilters.some(name => name in search) || search.failed === 'false'
  const look = (/** @type {import('./requests/search.js').Search} */ wanted) => {
    if (Object.keys(wanted).length === 0) goTo('requests')
    else location.hash = linkToSearch(wanted)
    // The same again: what has come meanwhile.
    again()
  }
  return html`<h1>Request log</h1>
    <p class="lead">Every request of the last <a href=${linkTo('settings')}>${days === undefined ? '' : `${days} `}days</a> and what became of it. Bodies and queries are not kept.</p>
    <${SearchForm} search=${search} look=${look} />
    ${!isNarrow && html`<${Errors} search=${search} version=${version} />`}
    <${List}
      path=${toApiPath(search)}
      caption="Requests, the newest first"
      columns=${columns}
      version=${version}
      keyOf=${(/** @type {any} */ line) => `${line.id} ${line.at}`}
      file="requests"
      empty=${renderEmptyText(days, Object.keys(search).length > 0)}
      tools=${html`<h2>${Object.keys(search).length ? 'What was found' : 'Newest'}</h2>`}
    />`
}

/** @param {number | undefined} days @param {boolean} isSearched */
function renderEmptyText(days, isSearched) {
  if (days === 0)
    return html`No requests are kept: the setting requestLogRetentionDays is 0. <a href=${linkTo('settings')}>Settings</a>`
  return isSearched
    ? 'No request fits all of it. Leave something out, or look at another time. Paths, records and ids are compared letter by letter.'
    : 'Nothing was asked yet. The first request of any account shows here.'
}
