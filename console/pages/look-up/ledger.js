import { Action } from '../../components/action.js'
import { amountColumn, Facts } from '../../components/format.js'
import { useKeptFocus } from '../../components/kept-focus.js'
import { Problem } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { WholeTable } from '../../components/whole-table.js'
import { ask } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { Emails, SendAgain } from './emails.js'

/** @param {string} currency @returns {import('../../components/table.js').Column[]} */
const columns = currency => [
  { title: 'When', value: step => step.at, shrink: true },
  { title: 'Step', value: step => step.kind },
  amountColumn('Amount', step => (Number(step.amount) ? step.amount : null), currency),
  { title: 'State then', value: step => step.state },
  { title: 'Held by', value: step => step.heldBy },
  { title: 'Order', value: step => step.orderNumber },
]

/** What an admin may decide of a voucher in each state. @type {Record<string, [decision: string, label: string, what: string][]>} */
const decisions = {
  active: [['suspend', 'Suspend', 'Nobody can use it until it is resumed.']],
  locked: [
    ['release', 'Release', 'The sale that holds it loses it: another one can use it at once.'],
    ['suspend', 'Suspend', 'The sale that holds it loses it, and nobody can use it until it is resumed.'],
  ],
  suspended: [['resume', 'Resume', 'It can be used again.']],
}

/**
 * A voucher with its ledger and whom it is for, and what can be decided of it.
 * @param {{ number: string, factsOf: (voucher: any) => import('../../components/format.js').Fact[] }} props
 */
export function Ledger({ number, factsOf }) {
  const path = `/vouchers/${encodeURIComponent(number)}`
  const place = useKeptFocus()
  const { data, error, reload } = useLoad(signal => ask(`${path}/ledger`, { signal }), [number])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`
  const { voucher, senderName, receiverName, receiverEmail, emails, steps } = data.data
  const isUsable = voucher.status === 'active' || voucher.status === 'locked'
  return html`<div class="card" tabindex="-1" ref=${place}>
      <${Facts}
        facts=${[
          ...factsOf(voucher),
          ['From', senderName],
          ['For', [receiverName, receiverEmail].filter(Boolean).join(', '), 'wide'],
        ]}
      />
      <p class="choices">
        ${(decisions[voucher.status] ?? []).map(
          ([decision, label, what]) =>
            html`<${Action} key=${decision} label=${label} role="admin" danger=${decision === 'suspend'} confirm=${what} work=${() => ask(`${path}/${decision}`, { method: 'POST', body: {} }).then(reload)} />`,
        )}
        ${isUsable && receiverEmail && html`<${SendAgain} path=${path} to=${receiverEmail} last=${emails[0]} done=${reload} />`}
      </p>
    </div>
    <${Emails} number=${number} emails=${emails} />
    <${WholeTable} title=${html`<h3>Ledger</h3>`} caption="Ledger of the voucher" columns=${columns(voucher.currency)} rows=${steps} file=${`voucher-${number}-ledger`} />`
}
