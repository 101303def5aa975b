import { Facts, State } from '../components/format.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { useRefresh } from '../components/use-refresh.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { nameDriver } from '../lib/states.js'
import { t } from '../lib/text.js'
import { Calls } from './back-office/calls.js'
import { Connection } from './back-office/connection.js'
import { Unconnected } from './back-office/unconnected.js'

/** The connection to the back office: its state, the calls of the last day, credentials and schedules. */
export function Screen() {
  const isAdmin = useHasRole('admin')
  const refreshCount = useRefresh()
  const { data, error, reload } = useLoad(
    async signal => {
      const load = (/** @type {string} */ path) => callApi(path, { signal }).then(response => response.data)
      const [calls, connection] = await Promise.all([
        load('/stats/back-office-calls'),
        isAdmin ? load('/console/back-office') : undefined,
      ])
      // The version comes from the back office, so it is missing while the back office is down.
      const capabilities = calls.breaker && (await load('/capabilities').catch(() => undefined))
      return { calls, connection, backOffice: capabilities?.backOffice }
    },
    [],
    refreshCount,
  )
  const heading = html`<h1>Back office</h1>
    <p class="lead">The retail system that stores, stock, prices and sales come from</p>
    ${error && html`<${Problem} error=${error} />`}`
  if (!data) return html`${heading}${!error && html`<p class="opening" role="status">Loading…</p>`}`
  const { calls, connection, backOffice } = data
  if (calls.breaker === null) return html`${heading}<${Unconnected} />`
  return html`${heading}
    <div class="card">
      <${Facts}
        facts=${[
          [
            t('Circuit breaker'),
            calls.breaker === 'open'
              ? html`<${State} state="open: calls are paused until it responds" tone="bad" />`
              : html`<${State} state="closed: calls go through" tone="good" />`,
          ],
          [t('System'), nameDriver(backOffice?.driver ?? connection?.driver)],
          [t('Version'), backOffice?.release ?? t('unknown while it is down')],
          [t('Country'), connection?.country],
          [t('Address'), connection?.url && html`<code>${connection.url}</code>`, 'wide'],
        ]}
      />
    </div>
    <${Calls} calls=${calls} />
    ${connection && html`<${Connection} connection=${connection} reload=${reload} />`}`
}
