import { useEffect, useRef, useState } from 'preact/hooks'
import { issueCsvCells, issueCsvHeaders } from 'tillbridge/mappings'
import { Action } from '../../components/action.js'
import { SubmitButton } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useAction, useVersion } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { goTo, linkTo } from '../../lib/route.js'
import { buildColumns, stateNames } from './columns.js'
import { undo } from './fixes.js'
import { CheckStatus, useMappingStatus } from './status.js'

const kinds = { stores: 'Stores', skus: 'SKUs', customers: 'Customers' }

/**
 * Mapping issues and their fixes.
 * @param {{ kind?: string, state?: string }} props
 */
export function Check({ kind: requested = 'skus', state = 'nearMatch' }) {
  const kind = /** @type {keyof typeof kinds} */ (requested in kinds ? requested : 'skus')
  const [version, refresh] = useVersion()
  const [fixed, setFixed] = useState(/** @type {any} */ (undefined))
  const [editing, setEditing] = useState(/** @type {any} */ (undefined))
  const notice = useRef(/** @type {HTMLElement | null} */ (null))
  // Moves the focus, because the fixed row with the focused button has disappeared.
  useEffect(() => notice.current?.querySelector('button')?.focus(), [fixed])
  const { kinds: all, error } = useMappingStatus(version, refresh)
  const status = all?.find(one => one.kind === kind)

  const fix = async (/** @type {any} */ { id, ecommerceId }, /** @type {string | null} */ to) => {
    // `from` prevents overwriting a mapping that someone else has changed since.
    const body = { kind, id, from: ecommerceId, to }
    const { data } = await callApi('/mappings/fixes', { method: 'POST', body })
    setFixed(data)
    setEditing(undefined)
    refresh()
  }
  const close = () => {
    setEditing(undefined)
    // If the fix was rejected, the list now shows the current mapping.
    refresh()
  }
  const undoFixed = async () => {
    await undo(fixed)
    setFixed(undefined)
    refresh()
  }
  const check = async () => {
    await callApi('/mappings/check', { method: 'POST', body: {} })
    refresh()
  }
  return html`<h1>Mapping check</h1>
    <p class="lead">Mapping problems, most important first. <a href=${linkTo('mappings')}>All mappings</a> · <a href=${linkTo('mappings', 'fixes')}>Fixes</a></p>
    ${error && html`<${Problem} error=${error} />`}
    ${all && html`<${CheckStatus} kinds=${all} kind=${kind} check=${check} />`}
    ${
      fixed &&
      html`<p class="note" role="status" ref=${notice}>Mapping of ${fixed.recordId} updated. <${Action} label="Undo" role="admin" work=${undoFixed} /></p>`
    }
    <div class="tabs" role="group" aria-label="States">
      ${Object.entries(stateNames).map(
        ([stateName, title]) =>
          html`<a key=${stateName} href=${linkTo('mappings', 'check', kind, stateName)} aria-current=${stateName === state ? 'page' : undefined}>${title} <b>${status ? status.states[stateName].toLocaleString('en') : ''}</b></a>`,
      )}
    </div>
    <${List}
      dataset=${`${kind} ${state}`}
      path=${`/mappings/issues/${kind}?state=${state}`}
      caption=${`${kinds[kind]}: ${stateNames[state]}`}
      columns=${buildColumns({ fix, open: setEditing })}
      csv=${state === 'platformOnly' ? undefined : toMappingRows(kind)}
      version=${version}
      getKey=${(/** @type {any} */ row) => row.id ?? `platform ${row.ecommerceId}`}
      file=${`mappings-${kind}-${state}`}
      empty=${status?.checkedAt ? 'No records in this state.' : 'Not checked yet. Press Check now.'}
      tools=${html`<${Choice} inline label="Kind" value=${kind} change=${(/** @type {string} */ next) => goTo('mappings', 'check', next, state)} options=${Object.entries(kinds)} />`}
    />
    ${
      editing &&
      html`<${Dialog} title=${`Map ${editing.name ?? editing.id}`} close=${close}>
        <${MapForm} row=${editing} fix=${fix} />
      <//>`
    }`
}

/**
 * Issues as rows that an import of mappings accepts.
 * @param {import('tillbridge/mappings').MappedKind} kind
 * @returns {(rows: any[]) => string[][]}
 */
const toMappingRows = kind => rows => [issueCsvHeaders[kind], ...rows.map(row => issueCsvCells(kind, row) ?? [])]

/** @param {{ row: any, fix: (row: any, to: string | null) => Promise<void> }} props */
function MapForm({ row, fix }) {
  const [to, setTo] = useState(row.suggestion ?? row.ecommerceId ?? '')
  const { busy, error, run } = useAction()
  return html`<form onSubmit=${onSubmit(() => run(() => fix(row, to.trim() || null)))}>
    <${Field} label="Platform ID" value=${to} change=${setTo} hint="Leave empty to unmap" />
    <${SubmitButton} label="Save" busyLabel="Saving…" busy=${busy} error=${error} />
  </form>`
}
