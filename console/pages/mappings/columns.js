import { Action } from '../../components/action.js'
import { countColumn } from '../../components/format.js'
import { html } from '../../lib/html.js'

/** The states of issues, problems first. @type {Record<string, string>} */
export const stateNames = {
  nearMatch: 'Near match',
  unmapped: 'Unmapped',
  orphaned: 'Broken',
  duplicate: 'Duplicate',
  platformOnly: 'Platform only',
  matched: 'Matched',
  unverified: 'Not verified',
}

/** The text of each reason. @type {Record<string, string>} */
const reasons = {
  same: 'same as its own ID',
  case: 'different case',
  whitespace: 'different whitespace',
  leadingZeros: 'different leading zeros',
  form: 'different notation',
  barcode: 'same barcode',
  name: 'same name',
  email: 'same email address',
  shared: 'is mapped to it too',
  double: 'exists twice',
  clash: 'matches only one of its two identifiers',
}

/** Returns the reasons as text, without the ID that is already in the suggestion. @param {any} row */
const reasonsText = row =>
  row.evidence
    .map((/** @type {any} */ { reason, id, ecommerceId }) => {
      const otherId = id ?? (ecommerceId === row.suggestion ? '' : ecommerceId)
      return `${otherId ? `${otherId} ` : ''}${reasons[reason] ?? reason}`
    })
    .join('; ')

/** @param {(row: any) => string | null} getText @returns {Pick<import('../../components/table.js').Column, 'value' | 'text'>} */
const asCode = getText => ({
  value: row => (getText(row) === null ? null : html`<code>${getText(row)}</code>`),
  text: row => getText(row) ?? '',
})

/**
 * The columns of issues.
 * @param {{ fix: (row: any, to: string | null) => Promise<void>, open: (row: any) => void }} actions
 * @returns {import('../../components/table.js').Column[]}
 */
export function buildColumns({ fix, open }) {
  return [
    { title: 'Record', ...asCode(row => row.id), shrink: true },
    { title: 'Mapped to', ...asCode(row => row.ecommerceId), wide: true },
    { title: 'Suggestion', ...asCode(row => row.suggestion), wide: true },
    { title: 'Name', value: row => row.name },
    { title: 'Platform name', value: row => row.ecommerceName },
    { title: 'Reason', value: reasonsText },
    countColumn('In\u00a0stock', row => row.unitsInStock),
    countColumn('Sold, 90\u00a0days', row => row.unitsSold),
    {
      title: 'Fix',
      right: true,
      value: row =>
        row.id === null
          ? html`<span class="none">–</span>`
          : html`${row.suggestion && html`<${Action} label="Use" name=${`Use ${row.suggestion}`} role="admin" work=${() => fix(row, row.suggestion)} />${' '}`}
              <button aria-label=${`Map ${row.id}`} onClick=${() => open(row)}>Map</button>`,
    },
  ]
}
