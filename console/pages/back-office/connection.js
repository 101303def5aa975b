import { useRef, useState } from 'preact/hooks'
import { formatDuration } from 'tillbridge/health'
import { Button, SubmitButton } from '../../components/button.js'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { Facts, State } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { showToast } from '../../components/toast.js'
import { useAction } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { formatNumber, rich, t } from '../../lib/text.js'

const path = '/console/back-office'

/**
 * `GET /console/back-office`. `isOwn`: false if the service uses the connection of the environment.
 * @typedef {{
 *   driver: string | null, isOwn: boolean, isLocked: boolean, url: string, user: string | null, hasPassword: boolean,
 *   schedules: { sync: string, intervalSeconds: number | null, defaultSeconds: number }[],
 * }} Connection
 */

/** The credentials and schedules of a connection. @param {{ connection: Connection, reload: () => void }} props */
export function Connection({ connection, reload }) {
  if (!connection.isOwn)
    return html`<p class="note">${rich('This service uses the connection of the installation, which the <code>BACK_OFFICE_…</code> variables set. To give it credentials and schedules of its own, run <code>tillbridge back-office set</code> on the server.')}</p>`
  if (connection.isLocked)
    return html`<p class="note">${rich('The stored password was encrypted with another <code>SECRET_KEY</code>. Set it again with <code>tillbridge back-office set</code> on the server.')}</p>`
  return html`<div class="bar-lists">
    <${Credentials} connection=${connection} reload=${reload} />
    <${Schedules} schedules=${connection.schedules} reload=${reload} />
  </div>`
}

/** @param {{ connection: Connection, reload: () => void }} props */
function Credentials({ connection, reload }) {
  const [user, setUser] = useState(connection.user ?? '')
  const [password, setPassword] = useState('')
  const [result, setResult] = useState(/** @type {any} */ (undefined))
  const save = useAction()
  const test = useAction()
  const isChanged = password !== '' || user !== (connection.user ?? '')
  const body = isChanged ? { user, ...(password && { password }) } : {}
  /** Changes with each edit. The result of a test of earlier credentials is ignored. */
  const edits = useRef(0)
  const edit = (/** @type {(text: string) => void} */ set) => (/** @type {string} */ text) => {
    edits.current++
    setResult(undefined)
    set(text)
  }
  // The buttons that save are never disabled, because a disabled button loses the keyboard focus.
  const store = () =>
    isChanged &&
    save.run(async () => {
      await callApi(path, { method: 'PUT', body })
      setPassword('')
      showToast(t('Credentials saved'))
      reload()
    })
  const check = () =>
    test.run(async () => {
      const tested = edits.current
      const { data } = await callApi(`${path}/test`, { method: 'POST', body })
      if (tested === edits.current) setResult(data)
    })
  return html`<section class="card" aria-label="Credentials">
    <h2 class="small-title">Credentials</h2>
    <form onSubmit=${onSubmit(store)}>
      <${Field} label="User" autocomplete="off" maxlength="250" value=${user} change=${edit(setUser)} />
      <${Field} label="Password" type="password" autocomplete="new-password" maxlength="250" value=${password} change=${edit(setPassword)} hint=${connection.hasPassword ? t('Empty: the stored password') : t('No password is stored')} />
      <p class="choices"><${Button} type="button" label=${isChanged ? t('Test these credentials') : t('Test connection')} busyLabel="Testing…" busy=${test.busy} onClick=${check} /></p>
      <div role="status">${result && html`<${Result} result=${result} />`}</div>
      ${test.error && html`<${Problem} error=${test.error} />`}
      <${SubmitButton} label="Save credentials" busyLabel="Saving…" busy=${save.busy} error=${save.error} />
    </form>
    <p class="note">${rich('The address can be changed only on the server, with <code>tillbridge back-office set</code>.')}</p>
  </section>`
}

/** The result of a test. @param {{ result: any }} props */
const Result = ({ result: { isConnected, release, stores, currency, detail } }) =>
  isConnected
    ? html`<p><${State} state="Connected" tone="good" /></p><${Facts} facts=${[
        [t('Version'), release ?? t('not reported')],
        [t('Stores'), formatNumber(stores)],
        [t('Currency'), currency],
      ]} />`
    : html`<p><${State} state=${t('Not connected: {detail}', { detail })} tone="bad" /></p>`

const intervals = [60, 300, 900, 1_800, 3_600, 21_600, 43_200, 86_400, 604_800]

/** @param {{ schedules: Connection['schedules'], reload: () => void }} props */
function Schedules({ schedules, reload }) {
  const [changes, setChanges] = useState(/** @type {Record<string, number | null>} */ ({}))
  const { busy, error, run } = useAction()
  const isChanged = Object.keys(changes).length > 0
  const save = () =>
    isChanged &&
    run(async () => {
      const changed = Object.entries(changes).map(([sync, intervalSeconds]) => ({ sync, intervalSeconds }))
      await callApi(path, { method: 'PUT', body: { schedules: changed } })
      setChanges({})
      showToast(t('Schedules saved. They take effect within 5 seconds.'))
      reload()
    })
  return html`<section class="card" aria-label="Schedules">
    <h2 class="small-title">Schedules</h2>
    <form onSubmit=${onSubmit(save)}>
      <div class="fields">
        ${schedules.map(({ sync, intervalSeconds, defaultSeconds }) => {
          const value = sync in changes ? changes[sync] : intervalSeconds
          const choices = [...new Set([...intervals, ...(intervalSeconds ? [intervalSeconds] : [])])].sort(
            (a, b) => a - b,
          )
          return html`<${Choice}
            key=${sync}
            label=${sync}
            value=${String(value ?? '')}
            change=${(/** @type {string} */ chosen) => setChanges({ ...changes, [sync]: chosen ? Number(chosen) : null })}
            options=${[['', t('default: every {duration}', { duration: formatDuration(defaultSeconds) })], ...choices.map(seconds => [String(seconds), t('every {duration}', { duration: formatDuration(seconds) })])]}
          />`
        })}
      </div>
      <${SubmitButton} label="Save schedules" busyLabel="Saving…" busy=${busy} error=${error} />
    </form>
  </section>`
}
