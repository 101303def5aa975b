import { useEffect, useRef, useState } from 'preact/hooks'
import { findingCells, findingHeaders } from 'tillbridge/mappings'
import { Action } from '../../components/action.js'
import { Send } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Choice, Field, submitted } from '../../components/field.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { useAction, useVersion } from '../../components/use-load.js'
import { ask } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { goTo, linkTo } from '../../lib/route.js'
import { columnsOf, stateNames } from './columns.js'
import { undo } from './fixes.js'
import { Standing, useHealth } from './health.js'

const kinds = { stores: 'Stores', skus: 'SKUs', customers: 'Customers' }

/**
 * What is wrong between what is here and what the e-commerce platform has, and its mending.
 * @param {{ kind?: string, state?: string }} props
 */
export function Doctor({ kind: asked = 'skus', state = 'nearMiss' }) {
  const kind = /** @type {keyof typeof kinds} */ (asked in kinds ? asked : 'skus')
  const [version, again] = useVersion()
  const [fixed, setFixed] = useState(/** @type {any} */ (undefined))
  const [mending, setMending] = useState(/** @type {any} */ (undefined))
  const done = useRef(/** @type {HTMLElement | null} */ (null))
  // What was mended has left the list, and the focus with it.
  useEffect(() => done.current?.querySelector('button')?.focus(), [fixed])
  const { kinds: all, error } = useHealth(version, again)
  const health = all?.find(one => one.kind === kind)

  const fix = async (/** @type {any} */ { id, ecommerceId }, /** @type {string | null} */ to) => {
    // What somebody else has mapped since this list was read stays.
    const body = { kind, id, from: ecommerceId, to }
    const { data: made } = await ask('/mappings/doctor/fixes', { method: 'POST', body })
    setFixed(made)
    setMending(undefined)
    again()
  }
  const close = () => {
    setMending(undefined)
    // Whoever was refused sees what it is mapped to by now.
    again()
  }
  const undoIt = async () => {
    await undo(fixed)
    setFixed(undefined)
    again()
  }
  const judge = async () => {
    await ask('/mappings/doctor/run', { method: 'POST', body: {} })
    again()
  }
  return html`<h1>Mapping doctor</h1>
    <p class="lead">What is mapped wrongly, or not at all, in the e-commerce platform. <a href=${linkTo('mappings')}>All mappings</a> · <a href=${linkTo('mappings', 'fixes')}>Fixes</a></p>
    ${error && html`<${Problem} error=${error} />`}
    ${all && html`<${Standing} kinds=${all} kind=${kind} judge=${judge} />`}
    ${
      fixed &&
      html`<p class="note" role="status" ref=${done}>${fixed.id} is mapped anew. <${Action} label="Undo" role="admin" work=${undoIt} /></p>`
    }
    <div class="tabs" role="group" aria-label="States">
      ${Object.entries(stateNames).map(
        ([each, title]) =>
          html`<a key=${each} href=${linkTo('mappings', 'doctor', kind, each)} aria-current=${each === state ? 'page' : undefined}>${title} <b>${health ? health.states[each].toLocaleString('en') : ''}</b></a>`,
      )}
    </div>
    <${List}
      of=${`${kind} ${state}`}
      path=${`/mappings/doctor/${kind}?state=${state}`}
      caption=${`${kinds[kind]}: ${stateNames[state]}`}
      columns=${columnsOf({ fix, open: setMending })}
      csv=${state === 'unclaimed' ? undefined : asMappings(kind)}
      version=${version}
      keyOf=${(/** @type {any} */ row) => row.id ?? `there ${row.ecommerceId}`}
      file=${`mappings-${kind}-${state}`}
      empty=${health?.judgedAt ? 'None of them is in this state.' : 'They have not been judged yet. Press Judge now.'}
      tools=${html`<${Choice} inline label="Kind" value=${kind} change=${(/** @type {string} */ next) => goTo('mappings', 'doctor', next, state)} options=${Object.entries(kinds)} />`}
    />
    ${
      mending &&
      html`<${Dialog} title=${`Map ${mending.name ?? mending.id}`} close=${close}>
        <${Mending} row=${mending} fix=${fix} />
      <//>`
    }`
}

/**
 * Findings as an import of mappings takes them.
 * @param {import('tillbridge/mappings').MappedKind} kind
 * @returns {(rows: any[]) => string[][]}
 */
const asMappings = kind => rows => [findingHeaders[kind], ...rows.map(row => findingCells(kind, row) ?? [])]

/** @param {{ row: any, fix: (row: any, to: string | null) => Promise<void> }} props */
function Mending({ row, fix }) {
  const [to, setTo] = useState(row.suggestion ?? row.ecommerceId ?? '')
  const { busy, error, run } = useAction()
  return html`<form onSubmit=${submitted(() => run(() => fix(row, to.trim() || null)))}>
    <${Field} label="Is there" value=${to} change=${setTo} hint="Empty: not mapped." />
    <${Send} label="Save" doing="Saving…" busy=${busy} error=${error} />
  </form>`
}
