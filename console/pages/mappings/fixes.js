import { Action } from '../../components/action.js'
import { Timestamp } from '../../components/format.js'
import { List } from '../../components/list.js'
import { RequestLink } from '../../components/request-link.js'
import { useVersion } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'

const kinds = { stores: 'Store', skus: 'SKU', customers: 'Customer' }

/** The mapped values as text. @param {Record<string, string | null>} fields */
const joinValues = fields => Object.values(fields).filter(Boolean).join(', ')
/** @param {Record<string, string | null>} fields */
const renderValues = fields =>
  joinValues(fields) ? html`<code>${joinValues(fields)}</code>` : html`<span class="none">nothing</span>`

/** Undoes a fix. @param {{ id: string }} fix */
export const undo = ({ id }) => callApi(`/mappings/fixes/${encodeURIComponent(id)}/undo`, { method: 'POST', body: {} })

/** The fixes of the last 90 days. */
export function Fixes() {
  const [version, refresh] = useVersion()
  /** @type {import('../../components/table.js').Column[]} */
  const columns = [
    {
      title: 'When',
      value: fix => html`<${Timestamp} time=${fix.fixedAt} />`,
      text: fix => fix.fixedAt,
      shrink: true,
    },
    { title: 'Type', value: fix => kinds[/** @type {keyof typeof kinds} */ (fix.kind)] },
    { title: 'Record', value: fix => html`<code>${fix.recordId}</code>`, text: fix => fix.recordId },
    { title: 'Before', value: fix => renderValues(fix.before), text: fix => joinValues(fix.before) },
    { title: 'After', value: fix => renderValues(fix.after), text: fix => joinValues(fix.after) },
    { title: 'Account', value: fix => fix.username },
    {
      title: 'Request',
      value: fix => html`<${RequestLink} id=${fix.requestId} short />`,
      text: fix => fix.requestId,
      shrink: true,
    },
    {
      title: 'Undone',
      right: true,
      value: fix =>
        fix.undoneAt
          ? html`<${Timestamp} time=${fix.undoneAt} />`
          : html`<${Action}
              label="Undo"
              name=${`Undo ${fix.recordId}`}
              role="admin"
              confirm=${html`${kinds[/** @type {keyof typeof kinds} */ (fix.kind)]} <code>${fix.recordId}</code> will be mapped to ${renderValues(fix.before)} again.`}
              work=${() => undo(fix).then(refresh)}
            />`,
      text: fix => fix.undoneAt ?? '',
    },
  ]
  return html`<h1>Fixes</h1>
    <p class="lead">Fixes from the <a href=${linkTo('mappings', 'check')}>mapping check</a> in the last 90 days. You can undo a fix until the mapping changes again.</p>
    <${List}
      path="/mappings/fixes"
      caption="Fixes, newest first"
      columns=${columns}
      version=${version}
      getKey=${(/** @type {any} */ fix) => fix.id}
      file="mapping-fixes"
      empty=${html`No fixes yet. <a href=${linkTo('mappings', 'check')}>Show mapping issues</a>`}
    />`
}
