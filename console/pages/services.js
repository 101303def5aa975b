import { useContext } from 'preact/hooks'
import { ExportableTable } from '../components/exportable-table.js'
import { formatMoney, State } from '../components/format.js'
import { useHealth } from '../components/health.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { ServicesContext } from '../lib/role.js'
import { linkToService } from '../lib/route.js'
import { plural, t } from '../lib/text.js'

/** @typedef {import('../components/format.js').Tone} Tone */
/** @typedef {{ name: string, role: string, health?: import('../components/health.js').Health, stats?: any }} Row */

const tones = /** @type {const} */ ({ critical: 'bad', degraded: 'warn', ok: 'good' })
const order = ['critical', 'degraded', undefined, 'ok']

/** Describes the worst problem of a service. @param {Row} row @returns {{ state: string, tone: Tone }} */
function assess({ health }) {
  if (!health) return { state: t("can't be loaded"), tone: 'warn' }
  const [worst, ...others] = health.problems
  if (!worst) return { state: t('healthy'), tone: 'good' }
  return {
    state: others.length ? t('{problem}, and {more} more', { problem: worst.title, more: others.length }) : worst.title,
    tone: tones[health.level],
  }
}

/** @param {{ currency: string, count: number, total: string }[] | undefined} sums */
const formatSums = sums => sums?.map(({ currency, total }) => formatMoney(total, currency)).join(', ') || null

/** @param {string} title @param {'orders' | 'sales'} name @returns {import('../components/table.js').Column[]} */
const dayColumns = (title, name) => [
  {
    title: t('{title} today', { title }),
    right: true,
    value: ({ stats }) =>
      stats?.[name].reduce((/** @type {number} */ sum, /** @type {any} */ { count }) => sum + count, 0),
  },
  { title: t('{title} amount', { title }), right: true, value: ({ stats }) => formatSums(stats?.[name]) },
]

/** @type {import('../components/table.js').Column[]} */
const columns = [
  {
    title: t('Service'),
    value: ({ name }) => html`<a href=${linkToService(name, 'overview')}>${name}</a>`,
    text: ({ name }) => name,
  },
  { title: t('State'), value: row => html`<${State} ...${assess(row)} />`, text: row => assess(row).state, wide: true },
  { title: t('Problems'), right: true, value: ({ health }) => health?.problems.length },
  ...dayColumns(t('Sales'), 'sales'),
  ...dayColumns(t('Orders'), 'orders'),
  { title: t('Your role'), value: ({ role }) => role },
]

/** Loads the health and the day of a service. A service that can't be loaded is shown without them. @param {{ name: string, role: string }} service @param {AbortSignal} signal @returns {Promise<Row>} */
async function loadRow({ name, role }, signal) {
  const load = (/** @type {string} */ path) =>
    callApi(path, { signal, headers: { 'x-service-name': name } }).then(
      ({ data }) => data,
      () => undefined,
    )
  const [health, stats] = await Promise.all([load('/health'), load('/stats')])
  return { name, role, health, stats }
}

/** All services of the account, the worst first. */
export function Screen() {
  const services = useContext(ServicesContext)
  const { minute } = useHealth()
  const { data, error } = useLoad(
    async signal => {
      const rows = await Promise.all(services.map(service => loadRow(service, signal)))
      return rows.sort((a, b) => order.indexOf(a.health?.level) - order.indexOf(b.health?.level))
    },
    [minute],
  )
  const count = data?.filter(({ health }) => health?.level !== 'ok').length
  return html`<h1>All services</h1>
    <p class="lead">${count === undefined ? t('Loading…') : count === 0 ? t('All services are healthy.') : plural(count, '{count} of {total} services needs attention.', '{count} of {total} services need attention.', { total: services.length })}</p>
    ${error && html`<${Problem} error=${error} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${data && html`<${ExportableTable} caption="All services" columns=${columns} rows=${data} getKey=${(/** @type {Row} */ { name }) => name} file="services" />`}`
}
