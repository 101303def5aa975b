import { useEffect } from 'preact/hooks'
import { settings } from 'tillbridge/settings'
import { Button } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Problem } from '../../components/problem.js'
import { useAction, useLoad } from '../../components/use-load.js'
import { ApiError, callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { getTitle } from './groups.js'
import { formatValue } from './setting.js'

/**
 * A preview of the changes from a dry run, and a button that saves them.
 * @param {{ changes: Record<string, unknown>, before: Record<string, unknown>, tag: string | null, close: () => void, reject: (errors: Record<string, string>) => void, done: () => void }} props
 * `reject`: receives the errors of invalid values by setting
 */
export function Review({ changes, before, tag, close, reject, done }) {
  // The dialog shows the effect as a warning, and saving confirms it.
  const body = 'currency' in changes ? { ...changes, confirmCurrencyChange: true } : changes
  const match = tag ? { 'if-match': tag } : {}
  const dryRun = useLoad(
    signal =>
      callApi('/settings', {
        method: 'PUT',
        body,
        headers: Object.assign({ prefer: 'tx=rollback' }, match),
        signal,
      }),
    [],
  )
  useEffect(() => {
    const errors = getErrorsBySetting(dryRun.error)
    if (Object.keys(errors).length > 0) reject(errors)
  }, [dryRun.error])
  const { busy, error, run } = useAction()
  const save = () =>
    run(async () => {
      await callApi('/settings', { method: 'PUT', body, headers: match })
      done()
    })
  const after = dryRun.data?.data
  // A setting can change other settings too.
  const names = after
    ? Object.keys(after).filter(name => formatValue(after[name]) !== formatValue(before[name]))
    : Object.keys(changes)
  return html`<${Dialog} title="Review changes" close=${close}>
    <dl class="changes">
      ${names.map(
        name =>
          html`<div key=${name}><dt>${getTitle(name)} <code class="key">${name}</code></dt><dd><del>${formatValue(before[name])}</del> <span aria-label="becomes">→</span> <ins>${formatValue(after ? after[name] : changes[name])}</ins></dd></div>`,
      )}
    </dl>
    ${dryRun.busy && html`<p role="status">Checking…</p>`}
    ${(dryRun.data?.meta.warnings ?? []).map((/** @type {{ detail: string }} */ { detail }) => html`<p class="note">${detail}</p>`)}
    ${(error ?? dryRun.error) && html`<${Problem} error=${error ?? dryRun.error} />`}
    <p class="choices"><${Button} class="main" label="Save" busyLabel="Saving…" busy=${busy} disabled=${!after} onClick=${save} /></p>
  <//>`
}

/** Returns the errors of a rejected change by setting. @param {unknown} error @returns {Record<string, string>} */
function getErrorsBySetting(error) {
  const errors = error instanceof ApiError ? (error.problem.errors ?? []) : []
  return Object.fromEntries(
    errors.flatMap(({ pointer = '', detail }) => {
      const name = pointer.split('/')[1] ?? ''
      return Object.hasOwn(settings, name) ? [[name, detail]] : []
    }),
  )
}
