import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Choice } from '../../components/field.js'
import { Problem } from '../../components/problem.js'
import { Table } from '../../components/table.js'
import { useAction, useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { formatNumber, plural, t } from '../../lib/text.js'
import { Change, reasons } from './columns.js'

const path = '/console/mappings/batches'

/** The result of a batch or of its undo. @typedef {{ id: string | null, changed: number, skipped: number }} BatchResult */

/**
 * Sends the parts of a batch until it is complete or stopped.
 * @param {string} to @param {object} body @param {(result: BatchResult) => void} onPart @param {() => boolean} [isStopped]
 * @returns {Promise<BatchResult>}
 */
async function sendParts(to, body, onPart, isStopped = () => false) {
  /** @type {BatchResult} */
  const sum = { id: null, changed: 0, skipped: 0 }
  for (let after; after !== null && !isStopped(); ) {
    const part = {
      ...body,
      ...(after === undefined ? {} : { after }),
      ...(sum.id && to === path ? { batch: sum.id } : {}),
    }
    const { data } = await callApi(to, { method: 'POST', body: part })
    sum.changed += data.changed
    sum.skipped += data.skipped
    // A batch without fixes doesn't exist.
    if (data.changed > 0) sum.id = data.id
    after = data.next
    onPart({ ...sum })
  }
  return sum
}

/** Undoes a batch. @param {string} id @returns {Promise<BatchResult>} */
export const undoBatch = id => sendParts(`${path}/${encodeURIComponent(id)}/undo`, {}, () => {})

/** Returns the result as text. @param {BatchResult} result @param {'updated' | 'restored'} verb */
export const describeResult = ({ changed, skipped }, verb) =>
  [
    verb === 'updated'
      ? plural(changed, '{count} mapping updated.', '{count} mappings updated.')
      : plural(changed, '{count} mapping restored.', '{count} mappings restored.'),
    skipped ? t('{skipped} skipped, because they have changed since.', { skipped }) : '',
  ]
    .filter(Boolean)
    .join(' ')

/** @type {import('../../components/table.js').Column[]} */
const columns = [
  { title: t('Record'), value: row => html`<code>${row.id}</code>`, shrink: true },
  { title: t('Name'), value: row => row.name },
  {
    title: t('Mapping'),
    value: row => html`<${Change} id=${row.id} from=${row.from} to=${row.to} />`,
    wide: true,
  },
]

/**
 * A dialog that previews the sure suggestions of a kind and accepts all of them.
 * @param {{ kind: string, noun: string, close: () => void, done: (result: BatchResult) => void }} props
 */
export function AcceptDialog({ kind, noun, close, done }) {
  const [reason, setReason] = useState('')
  const [progress, setProgress] = useState(/** @type {BatchResult | undefined} */ (undefined))
  const isStopped = useRef(false)
  useEffect(
    () => () => {
      isStopped.current = true
    },
    [],
  )
  const query = reason ? `?reason=${reason}` : ''
  const preview = useLoad(signal => callApi(`/console/mappings/${kind}/suggestions${query}`, { signal }), [query])
  const { busy, error, run } = useAction()
  /** @type {{ reasons: { reason: string, count: number }[], rows: any[] } | undefined} */
  const data = preview.data?.data
  const counts = data?.reasons ?? []
  const total = counts.filter(entry => !reason || entry.reason === reason).reduce((sum, { count }) => sum + count, 0)
  const accept = () =>
    run(async () => {
      const body = reason ? { kind, reason } : { kind }
      done(await sendParts(path, body, setProgress, () => isStopped.current))
    })
  const format = (/** @type {number} */ count) => formatNumber(count)
  return html`<${Dialog} title="Accept sure suggestions" close=${close}>
    <p>A suggestion is sure if it is the only candidate and no other record has it. The identifiers must differ only in their form, or the barcode or email address must be the same.</p>
    ${preview.error && html`<${Problem} error=${preview.error} />`}
    ${!data && !preview.error && html`<p role="status">Loading…</p>`}
    ${data && counts.length === 0 && html`<p class="empty">No sure suggestions. Decide about each record in the list.</p>`}
    ${
      data &&
      counts.length > 0 &&
      html`<${Choice} label="Suggestions" value=${reason} change=${setReason} options=${[
        ['', t('All ({total})', { total: counts.reduce((sum, { count }) => sum + count, 0) })],
        ...counts.map(entry => [entry.reason, `${reasons[entry.reason]} (${format(entry.count)})`]),
      ]} />
      <${Table} caption="Preview of the mappings" columns=${columns} rows=${data.rows} />
      ${total > data.rows.length && html`<p><small>${t('and {more} more', { more: total - data.rows.length })}</small></p>`}`
    }
    ${
      progress &&
      html`<p role="status">${t('{done} of {total} {noun}', { done: progress.changed + progress.skipped, total, noun })}</p>
      <progress aria-label="Progress" max=${total} value=${progress.changed + progress.skipped}></progress>`
    }
    ${error && html`<${Problem} error=${error} />`}
    ${
      total > 0 &&
      html`<p class="choices">
        <${Button} class="main" label=${plural(total, 'Accept {count} suggestion', 'Accept {count} suggestions')} busyLabel="Accepting…" busy=${busy} onClick=${accept} />
        <small>One undo restores all of them.</small>
      </p>`
    }
  <//>`
}
