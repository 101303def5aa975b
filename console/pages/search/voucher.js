import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Field, onSubmit } from '../../components/field.js'
import { Facts, formatMoney, renderLocalTime, State, sumAmounts } from '../../components/format.js'
import { useAction } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { t } from '../../lib/text.js'
import { formatDate } from '../../lib/time.js'
import { emailTones } from './emails.js'
import { Ledger } from './ledger.js'
import { Figures } from './record.js'

/** @type {Record<string, 'good' | 'warn' | 'bad' | 'idle'>} */
const tones = { active: 'good', pending: 'warn', locked: 'warn', suspended: 'bad', expired: 'bad', redeemed: 'idle' }

/** Why a voucher can't be redeemed in each status. @type {Record<string, string>} */
const unusable = {
  pending: t("can't be redeemed yet"),
  locked: t('by a sale that has not ended'),
  suspended: t("can't be redeemed until it is resumed"),
  expired: t("can't be redeemed"),
}

/** The balance is what is left, even if a suspended voucher can't be redeemed. @param {any} voucher @returns {[title: string, value: unknown][]} */
const summarize = ({ originalAmount, usedAmount, expiryDate, currency }) => [
  [t('Balance'), formatMoney(sumAmounts([originalAmount, `-${usedAmount}`]), currency)],
  [t('Redeemed'), formatMoney(usedAmount, currency)],
  [t('Original value'), formatMoney(originalAmount, currency)],
  [t('Expires'), formatDate(expiryDate) ?? t('never')],
]

/** @param {any} voucher @returns {import('../../components/format.js').Fact[]} */
const buildFacts = voucher => [
  [
    t('Status'),
    html`<${State} state=${voucher.status} tone=${tones[voucher.status]} />${unusable[voucher.status] && html` <small>${unusable[voucher.status]}</small>`}`,
  ],
  [t('Locked until'), renderLocalTime(voucher.lockedUntil)],
  [
    t('Email'),
    voucher.email && html`<${State} state=${voucher.email.status} tone=${emailTones[voucher.email.status]} />`,
  ],
]

/** A voucher. Admins see its ledger. Other accounts must enter the PIN; without it they can't find out if the voucher exists. @param {{ id: string }} props */
export function Voucher({ id: number }) {
  const isAdmin = useHasRole('admin')
  return html`<section aria-label=${t('Voucher {number}', { number })}>
    <h2>${t('Voucher {number}', { number })}</h2>
    ${isAdmin && html`<${Ledger} number=${number} summarize=${summarize} buildFacts=${buildFacts} />`}
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
  if (voucher)
    return html`<${Figures} figures=${summarize(voucher)} /><div class="card"><${Facts} facts=${buildFacts(voucher)} /></div>`
  const form = html`<form class="card narrow" onSubmit=${open}>
    <p>Ask the shopper for the PIN. Several wrong attempts block the voucher temporarily.</p>
    <${Field} label="PIN" type="password" required autocomplete="off" value=${pin} change=${setPin} />
    <${SubmitButton} label="Open" busyLabel="Opening…" busy=${busy} error=${error} />
  </form>`
  return isCollapsed ? html`<details><summary>Check a PIN</summary>${form}</details>` : form
}
