import { useState } from 'preact/hooks'
import { Button, SubmitButton } from '../components/button.js'
import { Field, onSubmit } from '../components/field.js'
import { Problem } from '../components/problem.js'
import { Secret } from '../components/secret.js'
import { useAction } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { rich, t } from '../lib/text.js'

const path = 'console/session/second-factor'

/** The second factor of the account that is signed in. */
export function Screen() {
  const [started, setStarted] = useState(/** @type {any} */ (undefined))
  const [recoveryCodes, setRecoveryCodes] = useState(/** @type {string[] | undefined} */ (undefined))
  const { busy, error, run } = useAction()
  const start = async () => setStarted((await callApi(`${path}/start`, { method: 'POST', body: {} })).data)
  return html`<h1>Second factor</h1>
    <p class="lead">A code of an authenticator app, in addition to the password of your account. Programs then need an API key.</p>
    ${error && html`<${Problem} error=${error} />`}
    ${
      recoveryCodes &&
      html`<${Secret}
        title="Second factor added. Each of these codes replaces the app once, if you lose it."
        facts=${[[t('recovery codes'), recoveryCodes.join(' ')]]}
        done=${() => setRecoveryCodes(undefined)}
      />`
    }
    ${
      started
        ? html`<${Confirm} started=${started} done=${(/** @type {string[]} */ codes) => {
            setStarted(undefined)
            setRecoveryCodes(codes)
          }} />`
        : html`<p class="choices"><${Button} class="main" label="Add a second factor" busyLabel="Adding…" busy=${busy} onClick=${() => run(start)} /></p>`
    }`
}

/** The secret, and a form for the first code. @param {{ started: any, done: (recoveryCodes: string[]) => void }} props */
function Confirm({ started, done }) {
  const [code, setCode] = useState('')
  const { busy, error, run } = useAction()
  const confirm = async () => {
    const body = { enrolment: started.enrolment, code }
    done((await callApi(path, { method: 'POST', body })).data.recoveryCodes)
  }
  return html`<form class="card" onSubmit=${onSubmit(() => run(confirm))}>
    <p>Scan the QR code with your authenticator app:</p>
    <${QrCode} code=${started.qrCode} />
    <p>${rich('Or enter the key in the app: <code>{secret}</code>', { secret: started.secret })}</p>
    <p><a href=${started.uri}>Open the app on this device</a></p>
    <${Field} label="Code" required autocomplete="one-time-code" value=${code} change=${setCode} hint="Six digits that the app shows" />
    <${SubmitButton} label="Confirm" busyLabel="Confirming…" busy=${busy} error=${error} />
  </form>`
}

/** Drawn in the page, because its content is secret and the page can't load images from elsewhere. @param {{ code: { size: number, path: string } }} props */
function QrCode({ code: { size, path: squares } }) {
  return html`<svg role="img" aria-label="QR code with the key" viewBox=${`0 0 ${size} ${size}`} width="200" height="200" shape-rendering="crispEdges">
    <rect width=${size} height=${size} fill="white" />
    <path d=${squares} fill="black" />
  </svg>`
}
