import { Action } from '../../components/action.js'
import { areSimilar, Diff } from '../../components/diff.js'
import { countColumn } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'

/** The states of issues, problems first. @type {Record<string, string>} */
export const stateNames = {
  nearMatch: t('Near match'),
  unmapped: t('Unmapped'),
  orphaned: t('Broken'),
  duplicate: t('Duplicate'),
  platformOnly: t('Platform only'),
  matched: t('Matched'),
  unverified: t('Not verified'),
}

/** The meaning of each state. @type {Record<string, string>} */
export const stateTexts = {
  nearMatch: t('The mapped item does not exist, but a similar one does, and no record is mapped to it.'),
  unmapped: t('Not mapped, and no platform item is similar.'),
  orphaned: t('Mapped to a platform item that no longer exists.'),
  duplicate: t('Two records share a platform item, or the platform has it twice.'),
  platformOnly: t('Platform items that no record is mapped to.'),
  matched: t('Mapped to exactly one platform item.'),
  unverified: t('Mapped, but no platform file has been imported to compare with.'),
}

/** The text of each reason. @type {Record<string, string>} */
export const reasons = {
  same: t('same as its own ID'),
  case: t('different case'),
  whitespace: t('different whitespace'),
  leadingZeros: t('different leading zeros'),
  form: t('different notation'),
  barcode: t('same barcode'),
  name: t('same name'),
  email: t('same email address'),
  shared: t('is mapped to it too'),
  double: t('exists twice'),
  clash: t('matches only one of its two identifiers'),
}

/** Returns the reasons as text, without the ID that is already in the suggestion. @param {any} row */
const reasonsText = row =>
  row.evidence
    .map((/** @type {any} */ { reason, id, ecommerceId }) => {
      const otherId = id ?? (ecommerceId === row.suggestion ? '' : ecommerceId)
      return `${otherId ? `${otherId} ` : ''}${reasons[reason] ?? reason}`
    })
    .join('; ')

/**
 * A suggested change of a mapping. It marks single characters if the identifiers are similar.
 * @param {{ id: string, from: string | null, to: string }} props
 */
export const Change = ({ id, from, to }) =>
  areSimilar(from ?? id, to)
    ? html`<${Diff} from=${from ?? id} to=${to} />`
    : html`${from && html`<del><code>${from}</code></del> → `}<ins><code>${to}</code></ins>`

/** The mapping, and the suggested one. @param {any} row */
const renderMapping = ({ id, ecommerceId, suggestion }) =>
  suggestion
    ? html`<${Change} id=${id} from=${ecommerceId} to=${suggestion} />`
    : ecommerceId && html`<code>${ecommerceId}</code>`

/**
 * The columns of issues.
 * @param {string} kind
 * @param {{ fix: (row: any, to: string | null) => Promise<void>, open: (row: any) => void }} actions
 * @returns {import('../../components/table.js').Column[]}
 */
export function buildColumns(kind, { fix, open }) {
  return [
    {
      title: t('Record'),
      value: row => (row.id === null ? null : html`<code>${row.id}</code>`),
      text: row => row.id ?? '',
      shrink: true,
    },
    {
      title: t('Mapping'),
      value: renderMapping,
      text: ({ ecommerceId, suggestion }) => [ecommerceId, suggestion].filter(Boolean).join(' → '),
      wide: true,
    },
    { title: t('Name'), value: row => row.name },
    { title: t('Platform name'), value: row => row.ecommerceName },
    { title: t('Reason'), value: reasonsText },
    ...(kind === 'customers' ? [] : [countColumn(t('In\u00a0stock'), row => row.unitsInStock)]),
    countColumn(t('Sold, 90\u00a0days'), row => row.unitsSold),
    {
      title: t('Fix'),
      right: true,
      value: row =>
        row.id === null
          ? html`<span class="none">–</span>`
          : html`${row.suggestion && html`<${Action} label="Use" name=${t('Use {suggestion}', { suggestion: row.suggestion })} role="admin" work=${() => fix(row, row.suggestion)} />${' '}`}
              <button aria-label=${t('Map {id}', { id: row.id })} onClick=${() => open(row)}>Map</button>`,
    },
  ]
}
