import { html } from '../../ground/html.js'
import { Action } from '../../parts/action.js'

/** The states of findings, the ones to work off first. @type {Record<string, string>} */
export const stateNames = {
  nearMiss: 'Near miss',
  missing: 'Missing',
  orphan: 'Orphan',
  twice: 'Twice',
  unclaimed: 'Only there',
  matched: 'Matched',
  unchecked: 'Not checked',
}

/** What is said of each reason. @type {Record<string, (one: { ecommerceId: string | null, id: string | null }) => string>} */
const reasons = {
  same: ({ ecommerceId }) => `${ecommerceId} is its own identifier here`,
  case: ({ ecommerceId }) => `${ecommerceId} has other capitals`,
  blanks: ({ ecommerceId }) => `${ecommerceId} has other blanks`,
  leadingZeros: ({ ecommerceId }) => `${ecommerceId} has other zeros in front`,
  form: ({ ecommerceId }) => `${ecommerceId} is the same, written otherwise`,
  barcode: ({ ecommerceId }) => `${ecommerceId} has the same barcode`,
  name: ({ ecommerceId }) => `${ecommerceId} is called the same`,
  email: ({ ecommerceId }) => `${ecommerceId} has the same e-mail address`,
  shared: ({ id }) => `${id} is mapped to it too`,
  double: ({ ecommerceId }) => `${ecommerceId} is there twice`,
  clash: ({ ecommerceId }) => `one of its identifiers says ${ecommerceId}`,
}

/** @param {any} row */
const why = row => row.evidence.map((/** @type {any} */ one) => reasons[one.why]?.(one) ?? one.why).join('; ')
/** @param {string | null} text */
const code = text => (text === null ? html`<span class="none">–</span>` : html`<code>${text}</code>`)

/** What an import of mappings calls a record here, and what it is there. @type {Record<'stores' | 'skus' | 'customers', [here: string, there: string]>} */
const mapping = {
  stores: ['storeId', 'ecommerceLocationId'],
  skus: ['skuId', 'ecommerceSku'],
  customers: ['customerId', 'ecommerceLegacyId'],
}

/**
 * The columns of findings. In the CSV they are called as an import of mappings has them: it passes over the rest.
 * @param {keyof typeof mapping} kind
 * @param {{ fix: (id: string, to: string | null) => Promise<void>, open: (row: any) => void }} does
 * @returns {import('../../parts/table.js').Column[]}
 */
export function columnsOf(kind, { fix, open }) {
  const [here, there] = mapping[kind]
  return [
    { title: 'Here', name: here, value: row => code(row.id), text: row => row.id ?? '', shrink: true },
    { title: 'Mapped to', value: row => code(row.ecommerceId) },
    {
      title: 'Probably',
      name: there,
      value: row => code(row.suggestion),
      text: row => row.suggestion ?? row.ecommerceId ?? '',
    },
    { title: 'What it is', name: 'name', value: row => row.name, text: row => row.name ?? '' },
    { title: 'There', name: 'ecommerceName', value: row => row.ecommerceName, text: row => row.ecommerceName ?? '' },
    { title: 'Why', name: 'evidence', value: why, text: why },
    {
      title: 'In stock',
      name: 'unitsInStock',
      value: row => row.unitsInStock?.toLocaleString('en'),
      text: row => String(row.unitsInStock ?? ''),
      right: true,
    },
    {
      title: 'Sold in 90 days',
      name: 'unitsSold',
      value: row => row.unitsSold?.toLocaleString('en'),
      text: row => String(row.unitsSold ?? ''),
      right: true,
    },
    {
      title: 'Mend',
      right: true,
      value: row =>
        row.id === null
          ? html`<span class="none">–</span>`
          : html`${row.suggestion && html`<${Action} label=${`Use ${row.suggestion}`} role="admin" work=${() => fix(row.id, row.suggestion)} />${' '}`}
              <button aria-label=${`Map ${row.id}`} onClick=${() => open(row)}>Map</button>`,
    },
  ]
}
