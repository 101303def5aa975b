import { useEffect, useRef, useState } from 'preact/hooks'
import { issueCsvCells, issueCsvHeaders } from 'tillbridge/mappings'
import { Action } from '../../components/action.js'
import { SubmitButton } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { onSubmit } from '../../components/field.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useAction, useVersion } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatNumber, t } from '../../lib/text.js'
import { AcceptDialog, describeResult, undoBatch } from './accept.js'
import { buildColumns, stateNames, stateTexts } from './columns.js'
import { undo } from './fixes.js'
import { HealthBars } from './health-bars.js'
import { ItemPicker } from './item-picker.js'
import { CheckStatus, useMappingStatus } from './status.js'
import { MappingsHead } from './tabs.js'

const kinds = { stores: t('Stores'), skus: t('SKUs'), customers: t('Customers') }

/**
 * Mapping issues and their fixes.
 * @param {{ kind?: string, state?: string }} props
 */
export function Check({ kind: requested = 'skus', state = 'nearMatch' }) {
  const kind = /** @type {keyof typeof kinds} */ (requested in kinds ? requested : 'skus')
  const [version, refresh] = useVersion()
  /** The last change: its text, and how to undo it. */
  const [fixed, setFixed] = useState(
    /** @type {{ text: string, undo?: () => Promise<string | undefined> } | undefined} */ (undefined),
  )
  const [isAccepting, setAccepting] = useState(false)
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
    setFixed({
      text: t('Mapping of {recordId} updated.', { recordId: data.recordId }),
      undo: async () => {
        await undo(data)
        return undefined
      },
    })
    setEditing(undefined)
    refresh()
  }
  const close = () => {
    setEditing(undefined)
    // If the fix was rejected, the list now shows the current mapping.
    refresh()
  }
  const undoFixed = async () => {
    const text = await fixed?.undo?.()
    setFixed(text === undefined ? undefined : { text })
    refresh()
  }
  const showBatch = (/** @type {import('./accept.js').BatchResult} */ result) => {
    const { id } = result
    setAccepting(false)
    setFixed({
      text: describeResult(result, 'updated'),
      ...(id && { undo: async () => describeResult(await undoBatch(id), 'restored') }),
    })
    refresh()
  }
  const check = async () => {
    await callApi('/mappings/check', { method: 'POST', body: {} })
    refresh()
  }
  return html`<${MappingsHead} view="check" lead="Mapping problems, most important first" />
    ${error && html`<${Problem} error=${error} />`}
    ${all && html`<${HealthBars} kinds=${all} kind=${kind} state=${state} titles=${kinds} />`}
    ${all && html`<${CheckStatus} kinds=${all} kind=${kind} check=${check} />`}
    ${
      fixed &&
      html`<p class="note" role="status" ref=${notice}>${fixed.text} ${fixed.undo && html`<${Action} label="Undo" role="admin" work=${undoFixed} />`}</p>`
    }
    <div class="tabs" role="group" aria-label="States">
      ${Object.entries(stateNames).map(([stateName, title]) => {
        const count = status?.states[stateName]
        return html`<a key=${stateName} class=${count === 0 ? 'zero' : undefined} href=${linkTo('mappings', 'check', kind, stateName)} aria-current=${stateName === state ? 'page' : undefined}>${title} <b>${count === undefined ? '' : formatNumber(count)}</b></a>`
      })}
    </div>
    <p><small>${stateTexts[state]}</small></p>
    <${List}
      dataset=${`${kind} ${state}`}
      path=${`/mappings/issues/${kind}?state=${state}`}
      caption=${`${kinds[kind]}: ${stateNames[state]}`}
      columns=${buildColumns(kind, { fix, open: setEditing })}
      csv=${state === 'platformOnly' ? undefined : toMappingRows(kind)}
      version=${version}
      getKey=${(/** @type {any} */ row) => row.id ?? `platform/${row.ecommerceId}`}
      file=${`mappings-${kind}-${state}`}
      empty=${status?.checkedAt ? t('No records in this state.') : t('Not checked yet. Press Check now.')}
      tools=${state === 'nearMatch' && status?.states.nearMatch > 0 && html`<button class="main" onClick=${() => setAccepting(true)}>Accept sure suggestions…</button>`}
    />
    ${isAccepting && html`<${AcceptDialog} kind=${kind} noun=${kinds[kind]} close=${() => setAccepting(false)} done=${showBatch} />`}
    ${
      editing &&
      html`<${Dialog} title=${t('Map {name}', { name: editing.name ?? editing.id })} close=${close}>
        <${MapForm} kind=${kind} row=${editing} fix=${fix} />
      <//>`
    }`
}

/**
 * Issues as rows that an import of mappings accepts.
 * @param {import('tillbridge/mappings').MappedKind} kind
 * @returns {(rows: any[]) => string[][]}
 */
const toMappingRows = kind => rows => [issueCsvHeaders[kind], ...rows.map(row => issueCsvCells(kind, row) ?? [])]

/** @param {{ kind: string, row: any, fix: (row: any, to: string | null) => Promise<void> }} props */
function MapForm({ kind, row, fix }) {
  const [to, setTo] = useState(row.suggestion ?? row.ecommerceId ?? '')
  const { busy, error, run } = useAction()
  return html`<form onSubmit=${onSubmit(() => run(() => fix(row, to.trim() || null)))}>
    <${ItemPicker} kind=${kind} label="Platform ID" value=${to} change=${setTo} hint="Type an identifier or a name. Leave empty to unmap." />
    <${SubmitButton} label="Save" busyLabel="Saving…" busy=${busy} error=${error} />
  </form>`
}
