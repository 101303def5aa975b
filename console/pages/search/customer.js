import { Facts, State } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi, findRecord, loadPages } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { formatAddress } from './record.js'
import { buildEvents } from './timeline.js'

/** A customer: who they are, and what there was with them, the newest first. @param {{ id: string }} props */
export function Customer({ id }) {
  const isAdmin = useHasRole('admin')
  const { data, error } = useLoad(signal => (isAdmin ? loadAsAdmin(id, signal) : loadAsVisitor(id, signal)), [id])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  const { customer, rewardAccount } = data
  const events = buildEvents(data)
  const yes = (/** @type {boolean} */ on, /** @type {string} */ words) =>
    html`<${State} state=${`${words} ${on ? 'yes' : 'no'}`} tone=${on ? 'good' : 'idle'} />`
  return html`<section aria-label="Customer">
    <h2>${customer ? [customer.title, customer.firstname, customer.surname].filter(Boolean).join(' ') || 'No name' : 'A customer who has left'}</h2>
    ${
      customer &&
      html`<div class="card"><${Facts}
        facts=${[
          ['E-mail', breakBeforeAt(customer.contact.email), 'wide'],
          [
            'Phones',
            [customer.contact.phones.mobile, customer.contact.phones.home, customer.contact.phones.work]
              .filter(Boolean)
              .join(', '),
          ],
          ['Address', formatAddress(customer.address), 'wide'],
          ['Born', customer.dateOfBirth],
          [
            'Marketing',
            html`${yes(customer.emailSubscription, 'e-mail')} ${yes(customer.smsSubscription, 'SMS')} ${customer.privacy ? html`<${State} state="privacy" tone="warn" />` : ''}`,
          ],
          ['Loyalty', [customer.loyaltyName, customer.loyaltyCode].filter(Boolean).join(' ')],
          [
            'Points',
            rewardAccount &&
              `${rewardAccount.availablePoints} in ${rewardAccount.programName}${rewardAccount.tierName ? `, ${rewardAccount.tierName}` : ''}`,
          ],
          ['In the shop', [customer.ecommerceAdminId, customer.ecommerceLegacyId].filter(Boolean).join(', '), 'wide'],
          ['Changed', customer.updateTimeStamp],
          ['Id', html`<code>${customer.id}</code>`],
        ]}
      /></div>`
    }
    <h3>Timeline</h3>
    ${data.warnings.map((/** @type {any} */ { code, detail }) => html`<p key=${code} class="note">${detail}</p>`)}
    ${!isAdmin && html`<p class="note">Changes of the profile, consent, vouchers, e-mails and returns that were taken back are shown to admins.</p>`}
    ${
      events.length
        ? html`<ol class="timeline">${events.map(event => html`<li key=${event.key}><time>${event.at}</time><div>${event.what}</div>${event.amount && html`<span class="amount">${event.amount}</span>`}</li>`)}</ol>`
        : html`<div class="empty">Nothing has happened with this customer yet.</div>`
    }
  </section>`
}

/** An e-mail address that is broken before its @, where it has to be. @param {string | null} address */
const breakBeforeAt = address => address?.split('@').map((part, i) => (i ? html`<wbr />@${part}` : part))

/** All of a list, and what it warns of. @param {string} path @param {AbortSignal} signal */
async function allOf(path, signal) {
  const pages = await Array.fromAsync(loadPages(path, signal))
  return { data: pages.flatMap(page => page.data), warnings: pages[0]?.meta.warnings ?? [] }
}

/** All that is kept of a customer, for admins. @param {string} id @param {AbortSignal} signal */
async function loadAsAdmin(id, signal) {
  const path = `/customers/${encodeURIComponent(id)}`
  // A back office that keeps the sales is asked for them first: what is kept of them is not always all. Who has left has none.
  const sales = await callApi(`${path}/transactions?limit=1`, { signal }).catch(error => {
    if (error.problem?.code === 'not_found') return { meta: {} }
    throw error
  })
  const [{ data }, audit] = await Promise.all([
    callApi(`${path}/export`, { signal }),
    allOf(`/audit?record=${encodeURIComponent(path)}`, signal),
  ])
  return Object.assign(data, { audit: audit.data, warnings: sales.meta.warnings ?? [] })
}

/** What anybody may read of a customer. @param {string} id @param {AbortSignal} signal */
async function loadAsVisitor(id, signal) {
  const path = `/customers/${encodeURIComponent(id)}`
  const [customer, orders, sales, rewardAccount] = await Promise.all([
    callApi(path, { signal }).then(answer => answer.data),
    allOf(`${path}/orders`, signal),
    allOf(`${path}/transactions`, signal),
    findRecord(`${path}/rewards`, { signal }).catch(() => undefined),
  ])
  const returned = orders.data.filter(({ lines }) => lines.some((/** @type {any} */ line) => line.returned > 0))
  const returns = await Promise.all(
    returned.map(order => allOf(`/orders/${encodeURIComponent(order.id)}/returns`, signal)),
  )
  return {
    customer,
    orders: orders.data,
    returns: returns.flatMap(of => of.data),
    transactions: sales.data,
    rewardAccount,
    warnings: sales.warnings,
  }
}
