import { Action } from '../../components/action.js'
import { countColumn } from '../../components/format.js'
import { html } from '../../lib/html.js'

/** The states of findings, the ones to work off first. @type {Record<string, string>} */
export const stateNames = {
  nearMiss: 'Near miss',
  missing: 'Missing',
  orphan: 'Orphan',
  twice: 'Twice',
  unclaimed: 'Unclaimed',
  matched: 'Matched',
  unchecked: 'Unchecked',
}

/** What is said of each reason. @type {Record<string, string>} */
const reasons = {
  same: 'its own identifier here',
  case: 'other capitals',
  blanks: 'other blanks',
  leadingZeros: 'other zeros in front',
  form: 'the same, written otherwise',
  barcode: 'same barcode',
  name: 'called the same',
  email: 'same e-mail address',
  shared: 'is mapped to it too',
  double: 'is there twice',
  clash: 'is what one of its two identifiers says',
}

/** Of what is suggested already the reason is enough. @param {any} row */
const why = row =>
  row.evidence
    .map((/** @type {any} */ { why, id, ecommerceId }) => {
      const of = id ?? (ecommerceId === row.suggestion ? '' : ecommerceId)
      return `${of ? `${of} ` : ''}${reasons[why] ?? why}`
    })
    .join('; ')
/** @param {(row: any) => string | null} of @returns {Pick<import('../../components/table.js').Column, 'value' | 'text'>} */
const inCode = of => ({
  value: row => (of(row) === null ? null : html`<code>${of(row)}</code>`),
  text: row => of(row) ?? '',
})

/**
 * The columns of findings.
 * @param {{ fix: (row: any, to: string | null) => Promise<void>, open: (row: any) => void }} does
 * @returns {import('../../components/table.js').Column[]}
 */
export function columnsOf({ fix, open }) {
  return [
    { title: 'Here', ...inCode(row => row.id), shrink: true },
    { title: 'Mapped to', ...inCode(row => row.ecommerceId), wide: true },
    { title: 'Suggestion', ...inCode(row => row.suggestion), wide: true },
    { title: 'Name', value: row => row.name },
    { title: 'Name there', value: row => row.ecommerceName },
    { title: 'Why', value: why },
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
