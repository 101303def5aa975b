import { useContext, useState } from 'preact/hooks'
import { Action } from '../../components/action.js'
import { SubmitButton } from '../../components/button.js'
import { Dialog } from '../../components/dialog.js'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { List } from '../../components/list.js'
import { RecordForm } from '../../components/record-form.js'
import { Secret } from '../../components/secret.js'
import { useAction, useVersion } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { UsernameContext } from '../../lib/role.js'
import { t } from '../../lib/text.js'
import { Keys } from './keys.js'

/** @type {[string, string][]} */
const roles = [
  ['visitor', t('visitor: read only')],
  ['maintainer', t('maintainer: read and write')],
  ['admin', t('admin: full access')],
]

/** The accounts of people or of programs, with their actions. @param {{ isProgram: boolean }} props */
export function Accounts({ isProgram }) {
  const self = useContext(UsernameContext)
  const [version, refresh] = useVersion()
  const [open, setOpen] = useState(/** @type {{ new?: boolean, account?: any, keys?: any }} */ ({}))
  const [issued, setIssued] = useState(/** @type {any} */ (undefined))
  const title = isProgram ? t('New program') : t('New person')
  const showChange = () => {
    setOpen({})
    refresh()
  }
  const add = async (/** @type {object} */ body) => {
    setIssued((await callApi('/accounts', { method: 'POST', body })).data)
    showChange()
  }
  /** @param {any} account @param {string} action */
  const post = (account, action) =>
    callApi(`/accounts/${encodeURIComponent(account.username)}/${action}`, { method: 'POST', body: {} })

  /** @type {import('../../components/table.js').Column[]} */
  const columns = [
    {
      title: t('Account'),
      value: account => (account.username === self ? html`${account.username} <small>you</small>` : account.username),
      text: account => account.username,
    },
    { title: t('Role'), value: account => account.role },
    { title: t('Active passwords'), right: true, value: account => account.passwords },
    { title: t('Role since'), value: account => account.since, isTime: true, shrink: true },
    {
      title: t('Last used'),
      value: account => account.lastUsedAt ?? html`<span class="none">never</span>`,
      text: account => account.lastUsedAt ?? '',
      isTime: true,
      shrink: true,
    },
    {
      title: t('Actions'),
      right: true,
      value: account => html`<span class="choices">
        <button onClick=${() => setOpen({ account })} aria-label=${t('Change role of {username}', { username: account.username })}>Role</button>
        <button onClick=${() => setOpen({ keys: account })} aria-label=${t('API keys of {username}', { username: account.username })}>Keys</button>
        <${Action}
          label="Rotate"
          name=${t('Rotate {username}', { username: account.username })}
          role="admin"
          work=${async () => {
            setIssued((await post(account, 'rotate')).data)
            showChange()
          }}
          confirm=${t('Creates a new password for {username}. The current one keeps working until the next rotation.', { username: account.username })}
        />
        <${Action} label="Revoke" name=${t('Revoke {username}', { username: account.username })} role="admin" danger done=${t('Access of {username} revoked', { username: account.username })} work=${() => post(account, 'revoke').then(showChange)} confirm=${account.username === self ? t('This is your own account. You lose access to this service within 5 seconds, and only another admin can give it back.') : t('{username} loses access to this service within 5 seconds.', { username: account.username })} />
      </span>`,
    },
  ]
  return html`${
    issued &&
    html`<${Secret}
        title=${issued.key ? t('API key {name}.', { name: issued.name }) : t('Password of {username}.', { username: issued.username })}
        facts=${
          issued.key
            ? [
                [t('key'), issued.key],
                [t('API key'), issued.apiKey],
              ]
            : [
                [t('Username'), issued.username],
                [t('Password'), issued.password],
                [t('API key'), issued.apiKey],
              ]
        }
        done=${() => setIssued(undefined)}
      />`
  }
    ${open.new && html`<${Dialog} title=${title} close=${() => setOpen({})}><${NewAccount} isProgram=${isProgram} save=${add} /><//>`}
    ${
      open.account &&
      html`<${Dialog} title=${t('Role of {username}', { username: open.account.username })} close=${() => setOpen({})}><${RecordForm}
      path=${`/accounts/${encodeURIComponent(open.account.username)}`}
      form=${(/** @type {any} */ props) => html`<${RoleForm} ...${props} />`}
      done=${showChange}
    /><//>`
    }
    ${
      open.keys &&
      html`<${Dialog} title=${t('API keys of {username}', { username: open.keys.username })} close=${() => setOpen({})}>
        <${Keys} account=${open.keys} showIssued=${(/** @type {any} */ key) => {
          setIssued(key)
          setOpen({})
        }} />
      <//>`
    }
    <${List}
      path=${`/accounts?is_program=${isProgram}`}
      caption=${isProgram ? t('Programs') : t('People')}
      columns=${columns}
      version=${version}
      getKey=${(/** @type {any} */ account) => account.username}
      file=${isProgram ? 'programs' : 'people'}
      empty=${isProgram ? t('No programs yet') : t('No people yet')}
      tools=${html`<button class=${isProgram ? undefined : 'main'} onClick=${() => setOpen({ new: true })}>${title}</button>`}
    />`
}

/** @param {{ isProgram: boolean, save: (body: object) => Promise<unknown> }} props */
function NewAccount({ isProgram, save }) {
  const [username, setUsername] = useState('')
  const [role, setRole] = useState('visitor')
  const { busy, error, run } = useAction()
  return html`<form onSubmit=${onSubmit(() => run(() => save({ username, role, isProgram })))}>
    <${Field} label="Username" required autocomplete="off" value=${username} change=${setUsername} hint="Must be unique across all services" />
    <${Choice} label="Role" value=${role} change=${setRole} options=${roles} />
    <${SubmitButton} label="Create account" busyLabel="Creating…" busy=${busy} error=${error} />
  </form>`
}

/** @param {{ record: any, save: (body: object) => Promise<void> }} props */
function RoleForm({ record, save }) {
  const [role, setRole] = useState(record.role)
  const { busy, error, run } = useAction()
  return html`<form onSubmit=${onSubmit(() => run(() => save({ role })))}>
    <${Choice} label="Role" value=${role} change=${setRole} options=${roles} />
    <${SubmitButton} label="Save" busyLabel="Saving…" busy=${busy} error=${error} disabled=${role === record.role} />
  </form>`
}
