import { useState } from 'preact/hooks'
import { Button, SubmitButton } from './components/button.js'
import { Checkbox } from './components/field.js'
import { ApiError, callApi } from './lib/api.js'
import { html } from './lib/html.js'
import { rememberScreen } from './lib/provider-response.js'
import { rich, t } from './lib/text.js'

/** The name of the identity provider, if people can sign in with one. */
const provider = document.querySelector('#console')?.getAttribute('data-provider')

/** The sign-in page. @param {{ reason: Error | undefined, done: (account: any) => void }} props `reason`: why the session ended or couldn't be opened */
export function SignIn({ reason, done }) {
  const [error, setError] = useState(reason)
  const [busy, setBusy] = useState(false)
  const [needsCode, setNeedsCode] = useState(false)
  const [isShown, setShown] = useState(false)
  // A used link has the same code, and its own explanation.
  const isWrong = error !== reason && error instanceof ApiError && error.problem.code === 'invalid_credentials'
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))
    setBusy(true)
    try {
      done((await callApi('console/session', { method: 'POST', body: Object.fromEntries(form) })).data)
    } catch (failure) {
      setError(/** @type {Error} */ (failure))
      if (failure instanceof ApiError && failure.problem.code === 'second_factor_required') setNeedsCode(true)
      setBusy(false)
    }
  }
  return html`<main class="sign-in">
    <img src="docs/icon.svg" alt="" width="40" height="40" />
    <h1>Tillbridge</h1>
    <p class="aside">Retail integration console</p>
    ${provider && html`<${ProviderSignIn} showError=${setError} />`}
    <form class="card" onSubmit=${submit}>
      <label>Username <input name="username" autocomplete="username" required autofocus /></label>
      <label>Password <input name="password" type=${isShown ? 'text' : 'password'} autocomplete="current-password" required /></label>
      <${Checkbox} label="Show the password" checked=${isShown} change=${setShown} />
      ${needsCode && html`<label>Code <input name="code" autocomplete="one-time-code" required autofocus /></label>`}
      ${isWrong && html`<${WrongPassword} error=${error} />`}
      <${SubmitButton} label="Sign in" busyLabel="Signing in…" busy=${busy} error=${isWrong ? undefined : error} />
    </form>
    <p class="aside">${rich('Have shell access? Run <code>tillbridge console</code> for a one-time link.')}</p>
  </main>`
}

/** @param {{ error: ApiError }} props */
const WrongPassword = ({ error }) => html`<div role="alert">
  <p class="field-error">Wrong username or password.</p>
  <details><summary>Details</summary><p>${error.remedy}</p><p class="facts"><a href="errors/invalid_credentials" target="_blank" rel="noopener">invalid_credentials</a> <code>${error.problem.requestId}</code></p></details>
</div>`

/** The button that opens the identity provider's page. @param {{ showError: (error: Error) => void }} props */
function ProviderSignIn({ showError }) {
  const [busy, setBusy] = useState(false)
  const start = async () => {
    setBusy(true)
    try {
      const { data } = await callApi('console/session/provider/start', { method: 'POST', body: {} })
      rememberScreen()
      location.assign(data.url)
    } catch (failure) {
      showError(/** @type {Error} */ (failure))
      setBusy(false)
    }
  }
  return html`<div class="card">
    <${Button} class="main" label=${t('Sign in with {provider}', { provider })} busyLabel="Opening…" busy=${busy} onClick=${start} />
  </div>`
}
