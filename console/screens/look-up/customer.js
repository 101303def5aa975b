import { ask, askMaybe, everyPage } from '../../ground/api.js'
import { html } from '../../ground/html.js'
import { useMay } from '../../ground/role.js'
import { Facts, State } from '../../parts/format.js'
import { Problem } from '../../parts/problem.js'
import { useLoad } from '../../parts/use-load.js'
import { addressLine } from './record.js'
import { eventsOf } from './timeline.js'

/** A customer: who they are, and what there was with them, the newest first. @param {{ id: string }} props */
export function Customer({ id }) {
  const isAdmin = useMay('admin')
  const { data, error } = useLoad(signal => (isAdmin ? whole(id, signal) : readable(id, signal)), [id])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  const { customer, rewardAccount } = data
  const events = eventsOf(data)
  const yes = (/** @type {boolean} */ on, /** @type {string} */ words) =>
    html`<${State} state=${`${words} ${on ? 'yes' : 'no'}`} tone=${on ? 'good' : 'idle'} />`
  return html`<section aria-label="Customer">
    <h2>${customer ? [customer.title, customer.firstname, customer.surname].filter(Boolean).join(' ') || 'No name' : 'A customer who has left'}</h2>
    ${
      customer &&
      html`<div class="card"><${Facts}
        facts=${[
          ['E-mail', broken(customer.contact.email), 'wide'],
          [
            'Phones',
            [customer.contact.phones.mobile, customer.contact.phones.home, customer.contact.phones.work]
              .filter(Boolean)
              .join(', '),
          ],
          ['Address', addressLine(customer.address), 'wide'],
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
    ${!isAdmin && html`<p class="note">Changes of the profile, consent, vouchers and e-mails are shown to admins.</p>`}
    ${
      events.length
        ? html`<ol class="timeline">${events.map(event => html`<li key=${event.key}><time>${event.at}</time><div>${event.what}</div>${event.amount && html`<span class="amount">${event.amount}</span>`}</li>`)}</ol>`
        : html`<div class="empty">Nothing has happened with this customer yet.</div>`
    }
  </section>`
}

/** An e-mail address that is broken before its @, where it has to be. @param {string | null} address */
const broken = address => address?.split('@').map((part, i) => (i ? html`<wbr />@${part}` : part))

/** All that is kept of a customer, for admins. @param {string} id @param {AbortSignal} signal */
async function whole(id, signal) {
  const path = `/customers/${encodeURIComponent(id)}`
  const [{ data }, audit] = await Promise.all([
    ask(`${path}/export`, { signal }),
    Array.fromAsync(everyPage(`/audit?record=${encodeURIComponent(path)}`, signal)),
  ])
  return Object.assign(data, { audit: audit.flat() })
}

/** What anybody may read of a customer. @param {string} id @param {AbortSignal} signal */
async function readable(id, signal) {
  const path = `/customers/${encodeURIComponent(id)}`
  const [customer, orders, transactions, rewardAccount] = await Promise.all([
    ask(path, { signal }).then(answer => answer.data),
    ask(`${path}/orders`, { signal }).then(answer => answer.data),
    ask(`${path}/transactions`, { signal }).then(answer => answer.data),
    askMaybe(`${path}/rewards`, { signal }).catch(() => undefined),
  ])
  return { customer, orders, transactions, rewardAccount }
}
