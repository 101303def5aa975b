import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Field, onSubmit } from '../../components/field.js'
import { Facts, formatMoney, State } from '../../components/format.js'
import { useAction } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { emailTones } from './emails.js'
import { Ledger } from './ledger.js'

/** @type {Record<string, 'good' | 'warn' | 'bad' | 'idle'>} */
const tones = { active: 'good', pending: 'warn', locked: 'warn', suspended: 'bad', expired: 'bad', redeemed: 'idle' }

/** What a voucher is. @param {any} voucher @returns {import('../../components/format.js').Fact[]} */
const buildFacts = voucher => [
  ['Status', html`<${State} state=${voucher.status} tone=${tones[voucher.status]} />`],
  ['Available', formatMoney(voucher.availableAmount, voucher.currency)],
  ['Used', formatMoney(voucher.usedAmount, voucher.currency)],
  ['Issued for', formatMoney(voucher.originalAmount, voucher.currency)],
  ['Expires', voucher.expiryDate ?? 'never'],
  ['Locked until', voucher.lockedUntil],
  [
    'E-mail',
    voucher.email && html`<${State} state=${voucher.email.status} tone=${emailTones[voucher.email.status]} />`,
  ],
]

/** A voucher: to admins with its ledger, to others by its PIN, without which nobody else is told that there is one. @param {{ id: string }} props */
export function Voucher({ id: number }) {
  const isAdmin = useHasRole('admin')
  return html`<section aria-label=${`Voucher ${number}`}>
    <h2>Voucher ${number}</h2>
    ${isAdmin && html`<${Ledger} number=${number} factsOf=${buildFacts} />`}
    <${PinLookup} number=${number} isHidden=${isAdmin} />
  </section>`
}

/** @param {{ number: string, isHidden: boolean }} props `isHidden`: behind a line that opens it */
function PinLookup({ number, isHidden }) {
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
    <p>The shopper has the PIN. After several wrong ones a voucher refuses for a while.</p>
    <${Field} label="PIN" type="password" required autocomplete="off" value=${pin} change=${setPin} />
    <${SubmitButton} label="Open" doing="Opening…" busy=${busy} error=${error} />
  </form>`
  return isHidden ? html`<details><summary>Try a PIN</summary>${form}</details>` : form
}
