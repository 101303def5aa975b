import { Button } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Problem } from '../../components/problem.js'
import { useAction, useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { formatValue } from './setting.js'

/**
 * What saving would do, tried on the server without doing it; then it can be done.
 * @param {{ changes: Record<string, unknown>, before: Record<string, unknown>, tag: string | null, close: () => void, done: () => void }} props
 */
export function Review({ changes, before, tag, close, done }) {
  // The dialog shows the effect as a warning, and saving confirms it.
  const body = 'currency' in changes ? { ...changes, confirmCurrencyChange: true } : changes
  const match = tag ? { 'if-match': tag } : {}
  const tried = useLoad(
    signal =>
      callApi('/settings', {
        method: 'PUT',
        body,
        headers: Object.assign({ prefer: 'tx=rollback' }, match),
        signal,
      }),
    [],
  )
  const { busy, error, run } = useAction()
  const save = () =>
    run(async () => {
      await callApi('/settings', { method: 'PUT', body, headers: match })
      done()
    })
  const after = tried.data?.data
  // A setting may take others along.
  const names = after
    ? Object.keys(after).filter(name => formatValue(after[name]) !== formatValue(before[name]))
    : Object.keys(changes)
  return html`<${Dialog} title="What will change" close=${close}>
    <dl class="changes">
      ${names.map(
        name =>
          html`<div key=${name}><dt>${name}</dt><dd><del>${formatValue(before[name])}</del> <span aria-label="becomes">→</span> <ins>${formatValue(after ? after[name] : changes[name])}</ins></dd></div>`,
      )}
    </dl>
    ${tried.busy && html`<p role="status">Trying it…</p>`}
    ${(tried.data?.meta.warnings ?? []).map((/** @type {{ detail: string }} */ { detail }) => html`<p class="note">${detail}</p>`)}
    ${(error ?? tried.error) && html`<${Problem} error=${error ?? tried.error} />`}
    <p class="choices"><${Button} class="main" label="Save" doing="Saving…" busy=${busy} disabled=${!after} onClick=${save} /></p>
  <//>`
}
