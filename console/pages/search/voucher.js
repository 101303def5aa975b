import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Field, onSubmit } from '../../components/field.js'
import { Facts, formatMoney, renderLocalTime, State } from '../../components/format.js'
import { useAction } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { emailTones } from './emails.js'
import { Ledger } from './ledger.js'

/** @type {Record<string, 'good' | 'warn' | 'bad' | 'idle'>} */
const tones = { active: 'good', pending: 'warn', locked: 'warn', suspended: 'bad', expired: 'bad', redeemed: 'idle' }

/** @param {any} voucher @returns {import('../../components/format.js').Fact[]} */
const buildFacts = voucher => [
  ['Status', html`<${State} state=${voucher.status} tone=${tones[voucher.status]} />`],
  ['Available', formatMoney(voucher.availableAmount, voucher.currency)],
  ['Used', formatMoney(voucher.usedAmount, voucher.currency)],
  ['Original value', formatMoney(voucher.originalAmount, voucher.currency)],
  ['Expires', voucher.expiryDate ?? 'never'],
  ['Locked until', renderLocalTime(voucher.lockedUntil)],
  ['Email', voucher.email && html`<${State} state=${voucher.email.status} tone=${emailTones[voucher.email.status]} />`],
]

/** A voucher. Admins see its ledger. Other accounts must enter the PIN; without it they can't find out if the voucher exists. @param {{ id: string }} props */
export function Voucher({ id: number }) {
  const isAdmin = useHasRole('admin')
  return html`<section aria-label=${`Voucher ${number}`}>
    <h2>Voucher ${number}</h2>
    ${isAdmin && html`<${Ledger} number=${number} buildFacts=${buildFacts} />`}
    <${PinLookup} number=${number} isCollapsed=${isAdmin} />
  </section>`
}

/** @param {{ number: string, isCollapsed: boolean }} props */
function PinLookup({ number, isCollapsed }) {
  const [pin, setPin] = useState('')
  const [voucher, setVoucher] = useState(/** @type {any} */ (undefined))
  const { busy, error, run } = useAction()
  const open = onSubmit(() =>
    run(async () => {
      setVoucher((await callApi('/vouchers/lookup', { method: 'POST', body: { number, pin } })).data)
      setPin('')
    }),
  )
  if (voucher) return html`<div class="card"><${Facts} facts=${buildFacts(voucher)} /></div>`
  const form = html`<form class="card narrow" onSubmit=${open}>
    <p>Ask the shopper for the PIN. Several wrong attempts block the voucher temporarily.</p>
    <${Field} label="PIN" type="password" required autocomplete="off" value=${pin} change=${setPin} />
    <${SubmitButton} label="Open" busyLabel="Opening…" busy=${busy} error=${error} />
  </form>`
  return isCollapsed ? html`<details><summary>Check a PIN</summary>${form}</details>` : form
}
