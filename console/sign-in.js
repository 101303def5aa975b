import { useState } from 'preact/hooks'
import { SubmitButton } from './components/button.js'
import { ApiError, callApi } from './lib/api.js'
import { html } from './lib/html.js'

/** @param {Error} error */
const getRemedy = error =>
  error instanceof ApiError && error.problem.code === 'invalid_credentials'
    ? 'If you lost the password, ask an admin to rotate it.'
    : undefined

/** The sign-in page. @param {{ reason: Error | undefined, done: (account: any) => void }} props `reason`: why the session ended or couldn't be opened */
export function SignIn({ reason, done }) {
  const [error, setError] = useState(reason)
  const [busy, setBusy] = useState(false)
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))
    setBusy(true)
    try {
      done((await callApi('console/session', { method: 'POST', body: Object.fromEntries(form) })).data)
    } catch (failure) {
      setError(/** @type {Error} */ (failure))
      setBusy(false)
    }
  }
  return html`<main class="sign-in">
    <img src="docs/icon.svg" alt="" width="40" height="40" />
    <h1>Tillbridge</h1>
    <form class="card" onSubmit=${submit}>
      <label>Username <input name="username" autocomplete="username" required autofocus /></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
      <${SubmitButton} label="Sign in" busyLabel="Signing in…" busy=${busy} error=${error} remedy=${error && getRemedy(error)} />
    </form>
    <p class="aside">Have shell access? Run <code>tillbridge console</code> for a one-time link.</p>
  </main>`
}
