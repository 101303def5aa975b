import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts, formatWriter, sumAmounts } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { RecordAction } from '../../components/record-action.js'
import { showToast } from '../../components/toast.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { nameState } from '../../lib/states.js'
import { t } from '../../lib/text.js'
import { Emails, Resend } from './emails.js'
import { Figures } from './record.js'

/** @type {Record<string, string>} */
const titles = {
  issue: t('Issued'),
  activate: t('Activated'),
  lock: t('Locked by a sale'),
  unlock: t('Unlocked'),
  redeem: t('Redeemed'),
  refund: t('Refunded'),
  suspend: t('Suspended'),
  resume: t('Resumed'),
  expire: t('Expired'),
}

/** Adds the balance after each entry. The entries are oldest first. @param {any[]} entries */
function addBalances(entries) {
  let balance = '0'
  return entries.map(entry => {
    balance = sumAmounts([balance, entry.amount])
    return { ...entry, balance }
  })
}

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const columns = currency => [
  { title: t('When'), value: entry => entry.at, isTime: true, shrink: true },
  { title: t('Event'), value: entry => titles[entry.kind] ?? entry.kind },
  amountColumn(t('Amount'), entry => (Number(entry.amount) ? entry.amount : null), currency),
  amountColumn(t('Balance'), entry => entry.balance, currency),
  { title: t('State after'), value: entry => nameState(entry.state) },
  { title: t('Account'), value: entry => formatWriter(entry), shrink: true },
  { title: t('Locked by'), value: entry => entry.lockedBy },
  { title: t('Order'), value: entry => entry.orderNumber },
]

/** The operations of an admin in each state. @type {Record<string, [decision: string, label: string, confirmation: string][]>} */
const decisions = {
  active: [['suspend', t('Suspend'), t("The voucher can't be used until it is resumed.")]],
  locked: [
    ['unlock', t('Unlock'), t('Unlocks the voucher. The current sale can no longer use it.')],
    ['suspend', t('Suspend'), t("The current sale loses its lock, and the voucher can't be used until it is resumed.")],
  ],
  suspended: [['resume', t('Resume'), t('The voucher can be used again.')]],
}

/** The confirmation of each operation. @type {Record<string, string>} */
const outcomes = { suspend: t('Voucher suspended'), unlock: t('Voucher unlocked'), resume: t('Voucher resumed') }

/**
 * A voucher with its ledger and receiver, and the operations of an admin.
 * @param {{
 *   number: string, summarize: (voucher: any) => [title: string, value: unknown][],
 *   buildFacts: (voucher: any) => import('../../components/format.js').Fact[],
 * }} props
 */
export function Ledger({ number, summarize, buildFacts }) {
  const path = `/vouchers/${encodeURIComponent(number)}`
  const container = useKeptFocus()
  const { data, error, reload } = useLoad(signal => callApi(`${path}/ledger`, { signal }), [number])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  const { voucher, senderName, receiverName, receiverEmail, emails, entries } = data.data
  const isUsable = voucher.status === 'active' || voucher.status === 'locked'
  return html`<${Figures} figures=${summarize(voucher)} />
    <div class="card" tabindex="-1" ref=${container}>
      <${Facts}
        facts=${[
          ...buildFacts(voucher),
          [t('From'), senderName],
          [t('To'), [receiverName, receiverEmail].filter(Boolean).join(', '), 'wide'],
        ]}
      />
      <p class="choices">
        ${(decisions[voucher.status] ?? []).map(
          ([decision, label, confirmation]) =>
            html`<${RecordAction} key=${decision} label=${label} role="admin" danger=${decision === 'suspend'} path=${`${path}/${decision}`} form=${() => html`<p>${confirmation}</p>`} done=${() => {
              reload()
              showToast(outcomes[decision] ?? '')
            }} />`,
        )}
        ${isUsable && receiverEmail && html`<${Resend} path=${path} to=${receiverEmail} last=${emails[0]} done=${reload} />`}
      </p>
    </div>
    <${Emails} number=${number} emails=${emails} />
    <${ExportableTable} title=${html`<h3>Ledger</h3>`} caption="Ledger of the voucher" columns=${columns(voucher.currency)} rows=${addBalances(entries)} file=${`voucher-${number}-ledger`} />`
}
