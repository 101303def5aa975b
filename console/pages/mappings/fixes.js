import { Action } from '../../components/action.js'
import { Moment } from '../../components/format.js'
import { List } from '../../components/list.js'
import { RequestLink } from '../../components/request-link.js'
import { useVersion } from '../../components/use-load.js'
import { ask } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'

const kinds = { stores: 'Store', skus: 'SKU', customers: 'Customer' }

/** What a mapping said or says, in its own order. @param {Record<string, string | null>} fields */
const said = fields => Object.values(fields).filter(Boolean).join(', ')
/** @param {Record<string, string | null>} fields */
const shown = fields => (said(fields) ? html`<code>${said(fields)}</code>` : html`<span class="none">nothing</span>`)

/** Takes a fix back. @param {{ fixId: string }} fix */
export const undo = ({ fixId }) =>
  ask(`/mappings/doctor/fixes/${encodeURIComponent(fixId)}/undo`, { method: 'POST', body: {} })

/** What the doctor has mapped anew in 90 days; each can be undone until somebody changes the mapping again. */
export function Fixes() {
  const [version, again] = useVersion()
  /** @type {import('../../components/table.js').Column[]} */
  const columns = [
    { title: 'When', value: fix => html`<${Moment} moment=${fix.fixedAt} />`, text: fix => fix.fixedAt, shrink: true },
    { title: 'What', value: fix => kinds[/** @type {keyof typeof kinds} */ (fix.kind)] },
    { title: 'Here', value: fix => html`<code>${fix.id}</code>`, text: fix => fix.id },
    { title: 'Before', value: fix => shown(fix.before), text: fix => said(fix.before) },
    { title: 'After', value: fix => shown(fix.after), text: fix => said(fix.after) },
    { title: 'By', value: fix => fix.username },
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
          ? html`<${Moment} moment=${fix.undoneAt} />`
          : html`<${Action}
              label="Undo"
              name=${`Undo ${fix.id}`}
              role="admin"
              confirm=${html`${kinds[/** @type {keyof typeof kinds} */ (fix.kind)]} <code>${fix.id}</code> is mapped to ${shown(fix.before)} again.`}
              work=${() => undo(fix).then(again)}
            />`,
      text: fix => fix.undoneAt ?? '',
    },
  ]
  return html`<h1>Fixes</h1>
    <p class="lead">What the <a href=${linkTo('mappings', 'doctor')}>mapping doctor</a> has mapped anew in the last 90 days. Each can be undone until somebody changes the mapping again.</p>
    <${List}
      path="/mappings/doctor/fixes"
      caption="Fixes, the newest first"
      columns=${columns}
      version=${version}
      keyOf=${(/** @type {any} */ fix) => fix.fixId}
      file="mapping-fixes"
      empty=${html`Nothing has been mended yet. <a href=${linkTo('mappings', 'doctor')}>See what is wrong.</a>`}
    />`
}
