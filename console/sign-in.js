import { useState } from 'preact/hooks'
import { SubmitButton } from './components/button.js'
import { ApiError, callApi } from './lib/api.js'
import { html } from './lib/html.js'

/** @param {Error} error */
const getRemedy = error =>
  error instanceof ApiError && error.problem.code === 'invalid_credentials'
    ? 'Type both as they were issued. A lost password cannot be shown again: an admin makes a further one.'
    : undefined

/** Where to sign in. @param {{ fault: Error | undefined, done: (found: any) => void }} props */
export function SignIn({ fault, done }) {
  const [error, setError] = useState(fault)
  const [busy, setBusy] = useState(false)
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))
    setBusy(true)
    try {
      done((await callApi('console/session', { method: 'POST', body: Object.fromEntries(form) })).data)
    } catch (refused) {
      setError(/** @type {Error} */ (refused))
      setBusy(false)
    }
  }
  return html`<main class="sign-in">
    <img src="docs/icon.svg" alt="" width="40" height="40" />
    <h1>Tillbridge</h1>
    <form class="card" onSubmit=${submit}>
      <label>Username <input name="username" autocomplete="username" required autofocus /></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
      <${SubmitButton} label="Sign in" doing="Signing in…" busy=${busy} error=${error} remedy=${error && getRemedy(error)} />
    </form>
    <p class="aside">No password at hand? Whoever runs the installation opens the console with <code>tillbridge console</code>.</p>
  </main>`
}
