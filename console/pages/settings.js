import { useState } from 'preact/hooks'
import { settings } from 'tillbridge/settings'
import { Button } from '../components/button.js'
import { Problem, renderCode } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { Review } from './settings/review.js'
import { Setting } from './settings/setting.js'

/** The settings of the service. Changes are previewed before they are saved. */
export function Screen() {
  const { data, error, busy, reload } = useLoad(signal => callApi('/settings', { signal }), [])
  const [changes, setChanges] = useState(/** @type {Record<string, unknown>} */ ({}))
  const [reviewing, setReviewing] = useState(false)
  const [filter, setFilter] = useState('')
  const [discards, setDiscards] = useState(0)
  if (error) return html`<h1>Settings</h1><${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`

  const current = data.data
  /** @param {string} name @param {unknown} value */
  const change = (name, value) => {
    const { [name]: _, ...otherChanges } = changes
    setChanges(
      JSON.stringify(value) === JSON.stringify(current[name])
        ? otherChanges
        : Object.assign(otherChanges, { [name]: value }),
    )
  }
  // A new key resets each input to the current value.
  const discard = () => {
    setChanges({})
    setDiscards(discards + 1)
  }
  const names = Object.keys(settings).filter(name =>
    `${name} ${settings[name]?.description}`.toLowerCase().includes(filter.toLowerCase()),
  )
  const count = Object.keys(changes).length
  return html`<h1>Settings</h1>
    <p class="lead">Changes are previewed before they're saved.</p>
    <${MissingFeatures} version=${data.tag} />
    <div class="tools">
      <label class="inline"><span>Find</span><input type="search" value=${filter} onInput=${(/** @type {any} */ event) => setFilter(event.currentTarget.value)} /></label>
      <${Button} class="main aside" label=${`Review ${count} ${count === 1 ? 'change' : 'changes'}`} busyLabel="No changes" busy=${count === 0 || busy} onClick=${() => setReviewing(true)} />
      ${count > 0 && html`<button class="quiet" onClick=${discard}>Discard</button>`}
    </div>
    <div class="settings">
      ${names.map(
        name => html`<${Setting}
          key=${`${name} ${discards} ${data.tag}`}
          name=${name}
          schema=${settings[name]}
          value=${name in changes ? changes[name] : current[name]}
          changed=${name in changes}
          change=${(/** @type {unknown} */ value) => change(name, value)}
        />`,
      )}
      ${names.length === 0 && html`<div class="empty">No matching settings</div>`}
    </div>
    ${
      reviewing &&
      html`<${Review}
        changes=${changes}
        before=${current}
        tag=${data.tag}
        close=${() => setReviewing(false)}
        done=${() => {
          setReviewing(false)
          setChanges({})
          reload()
        }}
      />`
    }`
}

/** The features that the current settings don't support, with the reasons. @param {{ version: string | null }} props */
function MissingFeatures({ version }) {
  const { data } = useLoad(signal => callApi('/capabilities', { signal }), [version])
  const missing = (data?.data.capabilities ?? []).filter(
    (/** @type {{ available: boolean }} */ { available }) => !available,
  )
  if (missing.length === 0) return null
  return html`<section class="card" aria-label="Missing features">
    <h2>Missing features</h2>
    <ul class="todo">
      ${missing.map(
        (/** @type {{ name: string, reason?: string }} */ { name, reason }) =>
          html`<li key=${name}><b>${name}</b>${reason && html` ${renderCode(reason)}`}</li>`,
      )}
    </ul>
  </section>`
}
