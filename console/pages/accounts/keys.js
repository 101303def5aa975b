import { useState } from 'preact/hooks'
import { Action } from '../../components/action.js'
import { SubmitButton } from '../../components/button.js'
import { Checkbox, Choice, Field, onSubmit } from '../../components/field.js'
import { Problem } from '../../components/problem.js'
import { Table } from '../../components/table.js'
import { useAction, useLoad } from '../../components/use-load.js'
import { callApi, loadApiDocument } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'

/** Loads the scopes that a key can have. @param {AbortSignal} signal @returns {Promise<string[]>} */
export async function loadScopes(signal) {
  const { components } = await loadApiDocument('admin', signal)
  return components.schemas.ApiKeyInput.properties.scopes.items.enum
}

/**
 * The API keys of an account, and a form for a new one.
 * @param {{ account: { username: string }, showIssued: (issued: any) => void }} props
 */
export function Keys({ account, showIssued }) {
  const path = `/accounts/${encodeURIComponent(account.username)}/keys`
  const { data, error, reload } = useLoad(
    async signal => {
      const [keys, scopes] = await Promise.all([callApi(path, { signal }), loadScopes(signal)])
      return { keys: /** @type {any[]} */ (keys.data), scopes }
    },
    [path],
  )
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p role="status">Loading…</p>`
  const none = (/** @type {string} */ text) => html`<span class="none">${text}</span>`
  /** @type {import('../../components/table.js').Column[]} */
  const columns = [
    { title: t('Key'), value: key => key.name },
    { title: t('Scopes'), value: key => key.scopes?.join(', ') ?? t('all'), wide: true },
    { title: t('Stores'), value: key => key.stores?.join(', ') ?? t('all') },
    { title: t('Expires'), value: key => key.expiresAt ?? none(t('never')), isTime: true, shrink: true },
    { title: t('Last used'), value: key => key.lastUsedAt ?? none(t('never')), isTime: true, shrink: true },
    {
      title: t('Actions'),
      right: true,
      value: key =>
        html`<${Action} label="Revoke" name=${t('Revoke key {name}', { name: key.name })} role="admin" danger done=${t('Key {name} revoked', { name: key.name })} work=${() => callApi(`${path}/${key.name}`, { method: 'DELETE' }).then(reload)} confirm=${t('Clients that use {name} lose access within 5 seconds.', { name: key.name })} />`,
    },
  ]
  const create = async (/** @type {object} */ body) => showIssued((await callApi(path, { method: 'POST', body })).data)
  return html`
    ${data.keys.length > 0 && html`<${Table} caption=${t('API keys of {username}', { username: account.username })} columns=${columns} rows=${data.keys} getKey=${(/** @type {any} */ key) => key.name} />`}
    <h3>New key</h3>
    <${NewKey} scopes=${data.scopes} create=${create} />`
}

/** The form of a new key. @param {{ scopes: string[], create: (body: object) => Promise<void> }} props */
export function NewKey({ scopes, create }) {
  const [name, setName] = useState('')
  const [stores, setStores] = useState('')
  const [days, setDays] = useState('')
  const [limits, setLimits] = useState('some')
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set()))
  const { busy, error, run } = useAction()
  /** @param {string} scope @param {boolean} checked */
  const choose = (scope, checked) =>
    setChosen(new Set(checked ? [...chosen, scope] : [...chosen].filter(other => other !== scope)))
  const body = {
    name,
    scopes: limits === 'some' ? [...chosen] : null,
    stores: stores.trim() === '' ? null : stores.split(',').map(number => number.trim()),
    expiresInDays: days === '' ? null : Number(days),
  }
  return html`<form onSubmit=${onSubmit(() => run(() => create(body)))}>
    <${Field} label="Name" required autocomplete="off" maxlength="50" value=${name} change=${setName} hint="Letters, digits, dots and hyphens" />
    <${Field} label="Expires in days" type="number" min="1" max="3650" value=${days} change=${setDays} hint="Empty: never" />
    <${Field} label="Stores" autocomplete="off" value=${stores} change=${setStores} hint="Store numbers with commas between them. Empty: all" />
    <${Choice} label="Permissions" value=${limits} change=${setLimits} options=${[
      ['some', t('only chosen groups of operations')],
      ['all', t("all that the account's role permits")],
    ]} />
    ${
      limits === 'some' &&
      html`<fieldset class="ticks"><legend>Groups</legend>
        ${scopes.map(scope => html`<${Checkbox} key=${scope} label=${scope} checked=${chosen.has(scope)} change=${(/** @type {boolean} */ checked) => choose(scope, checked)} />`)}
      </fieldset>`
    }
    <${SubmitButton} label="Create key" busyLabel="Creating…" busy=${busy} error=${error} disabled=${limits === 'some' && chosen.size === 0} />
  </form>`
}
