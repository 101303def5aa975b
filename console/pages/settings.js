import { useState } from 'preact/hooks'
import { settings } from 'tillbridge/settings'
import { Button } from '../components/button.js'
import { Problem } from '../components/problem.js'
import { useLoad } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { Lacking } from './settings/lacking.js'
import { Review } from './settings/review.js'
import { Setting } from './settings/setting.js'

/** Every setting with its meaning, its default and what is in force; changes are looked at before they are saved. */
export function Screen() {
  const { data, error, busy, reload } = useLoad(signal => callApi('/settings', { signal }), [])
  const [changes, setChanges] = useState(/** @type {Record<string, unknown>} */ ({}))
  const [reviewing, setReviewing] = useState(false)
  const [wanted, setWanted] = useState('')
  const [begun, setBegun] = useState(0)
  if (error) return html`<h1>Settings</h1><${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`

  const inForce = data.data
  /** @param {string} name @param {unknown} value */
  const change = (name, value) => {
    const { [name]: _, ...others } = changes
    setChanges(
      JSON.stringify(value) === JSON.stringify(inForce[name]) ? others : Object.assign(others, { [name]: value }),
    )
  }
  // Inputs that begin anew show what is in force, whatever was typed.
  const discard = () => {
    setChanges({})
    setBegun(begun + 1)
  }
  const names = Object.keys(settings).filter(name =>
    `${name} ${settings[name]?.description}`.toLowerCase().includes(wanted.toLowerCase()),
  )
  const count = Object.keys(changes).length
  return html`<h1>Settings</h1>
    <p class="lead">What this service is set to. Nothing changes before you have seen what will.</p>
    <${Lacking} version=${data.tag} />
    <div class="tools">
      <label class="inline"><span>Find</span><input type="search" value=${wanted} onInput=${(/** @type {any} */ event) => setWanted(event.currentTarget.value)} /></label>
      <${Button} class="main aside" label=${`Review ${count} ${count === 1 ? 'change' : 'changes'}`} doing="No changes" busy=${count === 0 || busy} onClick=${() => setReviewing(true)} />
      ${count > 0 && html`<button class="quiet" onClick=${discard}>Discard</button>`}
    </div>
    <div class="settings">
      ${names.map(
        name => html`<${Setting}
          key=${`${name} ${begun} ${data.tag}`}
          name=${name}
          shape=${settings[name]}
          value=${name in changes ? changes[name] : inForce[name]}
          changed=${name in changes}
          change=${(/** @type {unknown} */ value) => change(name, value)}
        />`,
      )}
      ${names.length === 0 && html`<div class="empty">No setting has all of these letters in a row. Look for fewer.</div>`}
    </div>
    ${
      reviewing &&
      html`<${Review}
        changes=${changes}
        before=${inForce}
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
