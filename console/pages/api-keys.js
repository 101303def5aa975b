import { useState } from 'preact/hooks'
import { Action } from '../components/action.js'
import { Dialog } from '../components/dialog.js'
import { ExportableTable } from '../components/exportable-table.js'
import { Choice } from '../components/field.js'
import { State } from '../components/format.js'
import { Problem } from '../components/problem.js'
import { Secret } from '../components/secret.js'
import { useLoad } from '../components/use-load.js'
import { callApi, loadAll } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { rich, t } from '../lib/text.js'
import { formatLocalTime } from '../lib/time.js'
import { loadScopes, NewKey } from './accounts/keys.js'
import { Accounts } from './accounts/list.js'

/** @param {{ username: string, name?: string }} key */
const toPath = ({ username, name }) =>
  `/accounts/${encodeURIComponent(username)}/keys${name ? `/${encodeURIComponent(name)}` : ''}`

/** @param {string} text */
const none = text => html`<span class="none">${text}</span>`

/** The API keys of all accounts, for programs. */
export function Screen() {
  const { data, error, reload } = useLoad(signal => callApi('/console/api-keys', { signal }), [])
  const [isAdding, setAdding] = useState(false)
  const [issued, setIssued] = useState(/** @type {any} */ (undefined))
  /** @type {any[] | undefined} */
  const keys = data?.data
  /** @type {import('../components/table.js').Column[]} */
  const columns = [
    { title: t('Key'), value: key => key.name, shrink: true },
    { title: t('Account'), value: key => html`${key.username} <small>${key.role}</small>`, text: key => key.username },
    {
      title: t('Scopes'),
      value: key => key.scopes?.join(', ') ?? none(t("all of the account's role")),
      text: key => key.scopes?.join(', ') ?? t('all'),
      wide: true,
    },
    {
      title: t('Stores'),
      value: key => key.stores?.join(', ') ?? none(t('all')),
      text: key => key.stores?.join(', ') ?? t('all'),
    },
    { title: t('Created'), value: key => key.createdAt, isTime: true, shrink: true },
    {
      title: t('Expires'),
      value: key =>
        key.isExpired
          ? html`<${State} state=${t('expired {time}', { time: formatLocalTime(key.expiresAt) })} tone="bad" />`
          : (key.expiresAt ?? none(t('never'))),
      text: key => key.expiresAt ?? '',
      isTime: true,
      shrink: true,
    },
    {
      title: t('Last used'),
      value: key => key.lastUsedAt ?? none(t('never')),
      text: key => key.lastUsedAt ?? '',
      isTime: true,
      shrink: true,
    },
    {
      title: t('Actions'),
      right: true,
      value: key =>
        html`<${Action} label="Revoke" name=${t('Revoke key {name} of {username}', { name: key.name, username: key.username })} role="admin" danger done=${t('Key {name} revoked', { name: key.name })} work=${() => callApi(toPath(key), { method: 'DELETE' }).then(reload)} confirm=${t('Clients that use {name} lose access within 5 seconds.', { name: key.name })} />`,
    },
  ]
  const add = html`<button class="main" onClick=${() => setAdding(true)}>New key</button>`
  return html`<h1>API keys</h1>
    <p class="lead">${rich('Keys of programs, with some of the permissions of an account. People and roles are under <link>Team</link>.', { link: content => html`<a href=${linkTo('accounts')}>${content}</a>` })}</p>
    ${
      issued &&
      html`<${Secret} title=${t('API key {name}.', { name: issued.name })} facts=${[
        [t('key'), issued.key],
        [t('API key'), issued.apiKey],
      ]} done=${() => setIssued(undefined)} />`
    }
    ${error && html`<${Problem} error=${error} />`}
    ${!keys && !error && html`<p class="opening" role="status">Loading…</p>`}
    <h2>Keys</h2>
    ${keys?.length === 0 && html`<p>${add}</p><div class="empty">No API keys yet. A program with a key has only the permissions that it needs.</div>`}
    ${keys && keys.length > 0 && html`<${ExportableTable} title=${add} caption="API keys" columns=${columns} rows=${keys} getKey=${(/** @type {any} */ key) => `${key.username} ${key.name}`} file="api-keys" />`}
    <h2>Programs</h2>
    <p class="lead">Accounts of programs. A program can use the password of its account or a key.</p>
    <${Accounts} isProgram />
    ${
      isAdding &&
      html`<${Dialog} title="New key" close=${() => setAdding(false)}>
        <${NewKeyOfAccount} done=${(/** @type {any} */ key) => {
          setAdding(false)
          setIssued(key)
          reload()
        }} />
      <//>`
    }`
}

/** @param {{ done: (issued: any) => void }} props */
function NewKeyOfAccount({ done }) {
  const [username, setUsername] = useState('')
  const { data, error } = useLoad(async signal => {
    const [accounts, scopes] = await Promise.all([loadAll('/accounts', signal), loadScopes(signal)])
    /** @type {{ username: string, role: string, isProgram: boolean }[]} */
    const all = accounts.data
    return { accounts: all.toSorted((a, b) => Number(b.isProgram) - Number(a.isProgram)), scopes }
  }, [])
  if (error) return html`<${Problem} error=${error} />`
  if (!data) return html`<p role="status">Loading…</p>`
  const account = username || (data.accounts[0]?.username ?? '')
  const create = async (/** @type {object} */ body) =>
    done((await callApi(toPath({ username: account }), { method: 'POST', body })).data)
  return html`<${Choice} label="Account" value=${account} change=${setUsername} options=${data.accounts.map(({ username: name, role }) => [name, `${name} (${role})`])} />
    <${NewKey} scopes=${data.scopes} create=${create} />`
}
