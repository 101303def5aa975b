import { ExportableTable } from '../../components/exportable-table.js'
import { amountColumn, Facts, formatWriter, sumAmounts } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { RecordAction } from '../../components/record-action.js'
import { showToast } from '../../components/toast.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { Emails, Resend } from './emails.js'
import { Figures } from './record.js'

/** @type {Record<string, string>} */
const titles = {
  issue: 'Issued',
  activate: 'Activated',
  lock: 'Locked by a sale',
  unlock: 'Unlocked',
  redeem: 'Redeemed',
  refund: 'Refunded',
  suspend: 'Suspended',
  resume: 'Resumed',
  expire: 'Expired',
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
  { title: 'When', value: entry => entry.at, isTime: true, shrink: true },
  { title: 'Event', value: entry => titles[entry.kind] ?? entry.kind },
  amountColumn('Amount', entry => (Number(entry.amount) ? entry.amount : null), currency),
  amountColumn('Balance', entry => entry.balance, currency),
  { title: 'State after', value: entry => entry.state },
  { title: 'Account', value: entry => formatWriter(entry), shrink: true },
  { title: 'Locked by', value: entry => entry.lockedBy },
  { title: 'Order', value: entry => entry.orderNumber },
]

/** The operations of an admin in each state. @type {Record<string, [decision: string, label: string, confirmation: string][]>} */
const decisions = {
  active: [['suspend', 'Suspend', "The voucher can't be used until it is resumed."]],
  locked: [
    ['unlock', 'Unlock', 'Unlocks the voucher. The current sale can no longer use it.'],
    ['suspend', 'Suspend', "The current sale loses its lock, and the voucher can't be used until it is resumed."],
  ],
  suspended: [['resume', 'Resume', 'The voucher can be used again.']],
}

/** The confirmation of each operation. @type {Record<string, string>} */
const outcomes = { suspend: 'Voucher suspended', unlock: 'Voucher unlocked', resume: 'Voucher resumed' }

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
          ['From', senderName],
          ['To', [receiverName, receiverEmail].filter(Boolean).join(', '), 'wide'],
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
