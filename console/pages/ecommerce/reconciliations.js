import { countColumn, State, Timestamp } from '../../components/format.js'
import { List } from '../../components/list.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { shortenId } from './differences.js'

/** @type {Record<string, import('../../components/format.js').Tone>} */
const tones = { queued: 'idle', running: 'idle', completed: 'good', failed: 'bad' }

/** True if the digests of both sides are equal. @param {any} reconciliation */
const isEqual = ({ digests }) =>
  digests.every((/** @type {{ known: string, observed: string }} */ { known, observed }) => known === observed)

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  {
    title: t('Started'),
    value: row =>
      html`<a href=${linkTo('ecommerce', 'reconciliations', row.id)}><${Timestamp} time=${row.startedAt} /></a>`,
    text: row => row.startedAt,
  },
  {
    title: t('State'),
    value: row => html`<${State} state=${row.state} tone=${tones[row.state]} />`,
    text: row => row.state,
  },
  { title: t('Mode'), value: row => (row.isDryRun ? t('dry run') : t('corrects')) },
  countColumn(t('Compared'), row => row.compared),
  countColumn(t('Changed by others'), row => row.drifted),
  { title: t('Digests'), value: row => (row.state === 'completed' ? (isEqual(row) ? t('equal') : t('differ')) : null) },
  { title: t('Error'), value: row => row.error },
]

/** The comparisons of 90 days. @param {{ newest: any }} props `newest`: the list is loaded again if its state changes */
export const Reconciliations = ({ newest }) => html`<${List}
  path="/ecommerce/reconciliations"
  caption="Comparisons of stock"
  columns=${columns}
  version=${newest ? Date.parse(newest.endedAt ?? newest.startedAt) : 0}
  file="stock-comparisons"
  empty="No comparisons yet."
  tools=${html`<h2>Comparisons</h2>`}
/>`

/** @type {import('../../components/table.js').Column[]} */
const driftColumns = [
  { title: t('SKU'), value: row => row.sku ?? shortenId(row.itemId), text: row => row.sku ?? row.itemId },
  { title: t('Location'), value: row => shortenId(row.locationId), text: row => row.locationId },
  countColumn(t('By our record'), row => row.knownOnHand),
  countColumn(t('On the platform'), row => row.observedOnHand),
  { title: t('Changed by'), value: row => row.changedBy ?? t('unknown'), text: row => row.changedBy ?? '' },
]

/** The levels that others have changed before a comparison. @param {{ id: string }} props */
export const Drift = ({ id }) => html`<p class="trail"><a href=${linkTo('ecommerce')}>E-commerce</a></p>
  <h1>Stock changed by others</h1>
  <p class="lead">Levels whose quantity wasn't the one that Tillbridge had set or read. Only one system can own stock.</p>
  <${List}
    path=${`/ecommerce/reconciliations/${encodeURIComponent(id)}/drift`}
    caption="Levels changed by others"
    columns=${driftColumns}
    getKey=${(/** @type {any} */ row) => `${row.itemId} ${row.locationId}`}
    file="stock-drift"
    empty="No level was changed by others."
  />`
