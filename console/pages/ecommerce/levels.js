import { Choice } from '../../components/field.js'
import { countColumn, Timestamp } from '../../components/format.js'
import { List } from '../../components/list.js'
import { html } from '../../lib/html.js'
import { goTo, linkTo } from '../../lib/route.js'
import { nameState } from '../../lib/states.js'
import { t } from '../../lib/text.js'
import { shortenId } from './differences.js'

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  { title: t('SKU'), value: level => level.sku ?? shortenId(level.itemId), text: level => level.sku ?? level.itemId },
  { title: t('Location'), value: level => shortenId(level.locationId), text: level => level.locationId },
  { title: t('State'), value: level => nameState(level.state) },
  {
    title: t('Reason'),
    value: level => level.reason && html`<code>${level.reason}</code>`,
    text: level => level.reason ?? '',
  },
  countColumn(t('On hand'), level => level.knownOnHand),
  countColumn(t('Desired'), level => level.desiredOnHand),
  countColumn(t('Sellable'), level => level.sellable),
  countColumn(t('Netted'), level => level.netted),
  countColumn(t('Held back'), level => level.heldBack),
  {
    title: t('Due since'),
    value: level => html`<${Timestamp} time=${level.dueSince} />`,
    text: level => level.dueSince ?? '',
  },
]

const states = [
  ['', t('All')],
  ['due', t('Due')],
  ['held', t('Held')],
  ['inFlight', t('In flight')],
  ['inStep', t('In step')],
]

/** Levels of stock on the platform. @param {{ state?: string }} props */
export const Levels = ({ state = '' }) => html`<p class="trail"><a href=${linkTo('ecommerce')}>E-commerce</a></p>
  <h1>Stock on the platform</h1>
  <p class="lead">Desired = sellable + netted + held back. Netted units belong to open platform orders that your stock no longer contains.</p>
  <${List}
    dataset=${state}
    path=${`/ecommerce/levels${state && `?state=${state}`}`}
    caption="Levels of stock"
    columns=${columns}
    getKey=${(/** @type {any} */ level) => `${level.itemId} ${level.locationId}`}
    file="stock-levels"
    empty=${state ? t('No levels have this state.') : t('No levels yet. The first comparison reads them.')}
    tools=${html`<${Choice} inline label="State" value=${state} change=${(/** @type {string} */ next) => goTo('ecommerce', 'levels', next)} options=${states} />`}
  />`
