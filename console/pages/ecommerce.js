import { assessSync, formatDuration } from 'tillbridge/health'
import { Action } from '../components/action.js'
import { ExportableTable } from '../components/exportable-table.js'
import { Facts, Health, State, Timestamp } from '../components/format.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { formatNumber, rich, t } from '../lib/text.js'
import { Differences } from './ecommerce/differences.js'
import { Levels } from './ecommerce/levels.js'
import { Drift, Reconciliations } from './ecommerce/reconciliations.js'
import { Unconnected } from './ecommerce/unconnected.js'

/** The connection to the e-commerce platform: its syncs, the stock push and comparisons. @param {{ parts: string[] }} props */
export function Screen({ parts: [first, second] }) {
  if (first === 'levels') return html`<${Levels} state=${second} />`
  if (first === 'reconciliations' && second) return html`<${Drift} key=${second} id=${second} />`
  return html`<${Connection} />`
}

/** @type {import('../components/table.js').Column[]} */
const syncColumns = [
  {
    title: t('Sync'),
    value: sync => html`<a href=${linkTo('syncs', sync.sync)}>${sync.sync}</a>`,
    text: sync => sync.sync,
  },
  {
    title: t('State'),
    value: sync => html`<${Health} ...${assessSync(sync)} />`,
    text: sync => assessSync(sync).state,
  },
  {
    title: t('Data age'),
    right: true,
    value: sync => (sync.lagSeconds === null ? null : formatDuration(sync.lagSeconds)),
  },
]

/** @type {import('../components/table.js').Column[]} */
const heldColumns = [
  { title: t('Reason'), value: held => html`<code>${held.reason}</code>`, text: held => held.reason },
  { title: t('Levels'), right: true, value: held => formatNumber(held.levels) },
  { title: t('Remedy'), value: held => remedies[held.reason] ?? t('The platform rejected the level. See its code.') },
]

/** Remedies of held levels by reason. @type {Record<string, string>} */
const remedies = {
  unmapped: t('Map the SKU, or map a store to the location.'),
  duplicate: t('Several variants have the same SKU. Give each its own.'),
  untracked: t('Let the platform track the quantity of the variant.'),
  bundle: t('None: the stock follows from the components.'),
  giftCard: t('None: gift cards have no stock.'),
  inactiveLocation: t('Activate the location on the platform.'),
}

const isOfPlatform = (/** @type {any} */ sync) => sync.origin === 'ecommerce'

function Connection() {
  const { data, error, reload } = useLoad(async signal => {
    const syncs = (await callApi('/syncs', { signal })).data.filter(isOfPlatform)
    return { syncs, status: syncs.length ? (await callApi('/ecommerce', { signal })).data : undefined }
  }, [])
  return html`<h1>E-commerce</h1>
    <p class="lead">The connection to your e-commerce platform</p>
    ${error && html`<${Problem} error=${error} />`}
    ${data && !data.status && html`<${Unconnected} />`}
    ${!data && !error && html`<p class="opening" role="status">Loading…</p>`}
    ${data?.status && html`<${Details} ...${data} reload=${reload} />`}`
}

/** @param {{ status: any, syncs: any[], reload: () => void }} props */
const Details = ({ status, syncs, reload }) => html`<${Push} status=${status} reload=${reload} />
    <${ExportableTable} title=${html`<h2>Syncs</h2>`} caption="Syncs from the platform" columns=${syncColumns} rows=${syncs} getKey=${(/** @type {any} */ sync) => sync.sync} file="platform-syncs" />
    ${
      status.held.length > 0 &&
      html`<${ExportableTable} title=${html`<h2>Held levels</h2>`} caption="Held levels by reason" columns=${heldColumns} rows=${status.held} getKey=${(/** @type {any} */ held) => held.reason} file="held-levels" />
      <p><a href=${linkTo('ecommerce', 'levels', 'held')}>Show held levels</a></p>`
    }
    <${Reconciliations} newest=${status.reconciliation} />`

const platforms = { shopify: 'Shopify', medusa: 'Medusa' }

/** The state of the push. @param {any} status @returns {[state: string, tone: import('../components/format.js').Tone]} */
function assessPush({ stockPush, isStopped, lagSeconds, due }) {
  if (stockPush === 'off') return [t('off'), 'idle']
  if (stockPush === 'dryRun') return [t('dry run: waits for confirmation'), 'warn']
  if (isStopped) return [t('stopped: most levels would fall to zero'), 'bad']
  return due && lagSeconds > 60
    ? [t('late by {duration}', { duration: formatDuration(lagSeconds) }), 'warn']
    : [t('on'), 'good']
}

/** The points that all classes of calls have left. @param {any} points */
const sumPoints = ({ orders, stock, background }) => orders + stock + background

/** @param {{ wanted: number, missing: string[] }} subscriptions */
const describeSubscriptions = ({ wanted, missing }) => {
  const counts = { present: wanted - missing.length, wanted }
  return missing.length
    ? t('{present} of {wanted} topics, without {missing}', { ...counts, missing: missing.join(', ') })
    : t('{present} of {wanted} topics', counts)
}

/** @param {{ status: any, reload: () => void }} props */
function Push({ status, reload }) {
  const [state, tone] = assessPush(status)
  const post = (/** @type {string} */ path, body = {}) => callApi(path, { method: 'POST', body }).then(reload)
  const { stockPush, isStopped, points, subscriptions, reconciliation } = status
  const isFirst = stockPush === 'dryRun'
  const count = (/** @type {string} */ name) => formatNumber(status[name])
  return html`<div class="card">
      <${Facts}
        facts=${[
          [
            t('Shop'),
            html`<a href=${status.url} target="_blank" rel="noopener">${new URL(status.url).host}</a>`,
            'wide',
          ],
          [t('Platform'), platforms[/** @type {keyof typeof platforms} */ (status.driver)]],
          [t('API version'), status.apiVersion],
          [t('Stock push'), html`<${State} state=${state} tone=${tone} />`],
          [t('In step'), html`<a href=${linkTo('ecommerce', 'levels', 'inStep')}>${count('inStep')}</a>`],
          [t('Due'), html`<a href=${linkTo('ecommerce', 'levels', 'due')}>${count('due')}</a>`],
          [t('In flight'), count('inFlight')],
          [t('Oldest due level'), status.due ? formatDuration(status.lagSeconds) : null],
          [t('Open platform order lines'), count('openCommitments')],
          [
            t('Points'),
            points &&
              t('{left} of {capacity}', {
                left: sumPoints(points),
                capacity: points.capacity,
              }),
          ],
          [t('Events'), subscriptions && describeSubscriptions(subscriptions)],
          [t('Last comparison'), html`<${Timestamp} time=${reconciliation?.endedAt} />`],
        ]}
      />
      ${
        stockPush !== 'off' &&
        html`<p class="choices">
        ${stockPush === 'on' && !isStopped && html`<${Action} label="Push now" role="admin" main done="Push queued" work=${() => post('/ecommerce/push')} />`}
        <${Action} label="Compare now" role="admin" work=${() => post('/ecommerce/reconciliations')} />
        <button onClick=${reload}>Refresh</button>
      </p>`
      }
      ${reconciliation?.state === 'queued' && html`<p role="status">Queued. The comparison starts when a worker is free.</p>`}
    </div>
    ${
      stockPush === 'off' &&
      html`<p class="note">${rich('The stock push is off. To compare stock without setting it: <code>tillbridge ecommerce set … stockPush=dryRun</code>')}</p>`
    }
    ${
      (isFirst || isStopped) &&
      html`<h2>${isFirst ? t('Confirm the first push') : t('Confirm the stopped push')}</h2>
      <${Differences} reconciliation=${reconciliation} />
      ${
        (isStopped || reconciliation?.state === 'completed') &&
        html`<p class="choices"><${Action}
        label=${isFirst ? t('Start the push') : t('Continue the push')}
        role="admin"
        danger
        work=${() => post('/ecommerce/push', { approve: true })}
        confirm="The quantities on the platform are replaced with these. Shoppers see them within seconds."
      /></p>`
      }`
    }`
}
