import { useState } from 'preact/hooks'
import { Action } from '../../components/action.js'
import { Dialog } from '../../components/dialog.js'
import { Facts, formatDuration, State, Timestamp } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { RecordForm } from '../../components/record-form.js'
import { Secret } from '../../components/secret.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { useLoad, useVersion } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { goTo, linkTo } from '../../lib/route.js'
import { EndpointForm } from './form.js'
import { getStateTone } from './health.js'
import { ReplayForm } from './replay.js'

/** @param {any} attempt */
const isDelivered = ({ status }) => status !== null && status < 300
/** @param {any} attempt */
const formatOutcome = attempt =>
  attempt.status === null ? attempt.detail : `${attempt.status}${attempt.detail ? ` ${attempt.detail}` : ''}`

/** @type {import('../../components/table.js').Column[]} */
const attemptColumns = [
  { title: 'When', value: each => html`<${Timestamp} moment=${each.at} />`, text: each => each.at, shrink: true },
  {
    title: 'Outcome',
    value: each => html`<${State} state=${formatOutcome(each)} tone=${isDelivered(each) ? 'good' : 'bad'} />`,
    text: formatOutcome,
  },
  { title: 'Changes', right: true, value: each => each.changes },
  {
    title: 'Took',
    name: 'Took (ms)',
    right: true,
    value: each => `${each.milliseconds} ms`,
    text: each => String(each.milliseconds),
  },
  {
    title: 'Answer',
    value: each => (each.response ? html`<code>${each.response.slice(0, 120)}</code>` : null),
    text: each => each.response ?? '',
  },
  { title: 'Delivery', value: each => html`<code>${each.deliveryId}</code>`, text: each => each.deliveryId },
]

/** @param {{ record: any, save: (body: object) => Promise<void> }} of */
const renderEditForm = ({ record, save }) => html`<${EndpointForm} endpoint=${record} save=${save} />`

/** One endpoint: where it stands, what it answered, and what is done with it. @param {{ id: string }} props */
export function Endpoint({ id }) {
  const path = `/webhooks/${encodeURIComponent(id)}`
  const { data, error, reload } = useLoad(signal => callApi(path, { signal }).then(answer => answer.data), [id])
  const [version, again] = useVersion()
  const [open, setOpen] = useState('')
  const [secret, setSecret] = useState(/** @type {string | undefined} */ (undefined))
  const [tried, setTried] = useState(/** @type {any} */ (undefined))
  const place = useKeptFocus()

  if (error)
    return html`<p class="trail"><a href=${linkTo('webhooks')}>Webhooks</a></p><h1>Webhook</h1><${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`

  const seen = () => {
    setOpen('')
    reload()
    again()
  }
  /** @param {string} what @param {object} [body] */
  const post = (what, body = {}) => callApi(`${path}/${what}`, { method: 'POST', body })
  const doing = (/** @type {string} */ what) => () => post(what).then(seen)
  const test = async () => {
    setTried((await post('test')).data)
    again()
  }
  const rotate = async () => {
    setSecret((await post('rotate-secret')).data.secret)
    seen()
  }
  const remove = () => callApi(path, { method: 'DELETE' }).then(() => goTo('webhooks'))

  return html`<p class="trail"><a href=${linkTo('webhooks')}>Webhooks</a></p>
    <h1 class="address">${data.url}</h1>
    ${secret && html`<${Secret} what="The new signing secret. Both secrets are valid for 24 hours." facts=${[['secret', secret]]} done=${() => setSecret(undefined)} />`}
    <div class="card" tabindex="-1" ref=${place}>
      <${Facts}
        facts=${[
          [
            'State',
            html`<${State} state=${data.state} tone=${getStateTone(data.state)} />${data.stateReason && html` <small>${data.stateReason}</small>`}`,
          ],
          ['Lag', data.lag.seconds ? `${formatDuration(data.lag.seconds)}` : 'up to date'],
          ['Last delivered', html`<${Timestamp} moment=${data.lastSuccessAt} />`],
          [
            'Last failure',
            data.lastFailure &&
              html`<${Timestamp} moment=${data.lastFailure.at} /> <small>${data.lastFailure.detail}</small>`,
          ],
          ['Kinds', data.kinds.length ? data.kinds.join(', ') : 'all'],
          ['Description', data.description],
        ]}
      />
      <p class="choices">
        <${Action} label="Send a test" role="admin" main work=${test} />
        ${data.state === 'failing' && html`<${Action} label="Try now" role="admin" work=${doing('resume')} />`}
        ${
          data.state === 'paused'
            ? html`<${Action} label="Resume" role="admin" work=${doing('resume')} />`
            : html`<${Action} label="Pause" role="admin" work=${doing('pause')} confirm="Changes wait and are sent when you resume." />`
        }
        <button onClick=${() => setOpen('rewind')}>Rewind</button>
        <button onClick=${() => setOpen('edit')}>Edit</button>
        <${Action} label="Rotate secret" role="admin" work=${rotate} confirm="Creates a new signing secret. Both secrets are valid for 24 hours." />
        <${Action} label="Remove" role="admin" danger work=${remove} confirm="Deletes the endpoint and its cursor." />
      </p>
      ${tried && html`<p role="status"><${State} state=${isDelivered(tried) ? 'Test delivered' : 'Test failed'} tone=${isDelivered(tried) ? 'good' : 'bad'} />: ${formatOutcome(tried)}, ${tried.milliseconds} ms</p>`}
    </div>
    ${open === 'edit' && html`<${Dialog} title="Edit endpoint" close=${() => setOpen('')}><${RecordForm} path=${path} done=${seen} form=${renderEditForm} /><//>`}
    ${open === 'rewind' && html`<${Dialog} title="Rewind" close=${() => setOpen('')}><${ReplayForm} rewind=${(/** @type {string} */ to) => post('rewind', { to }).then(seen)} /><//>`}
    <${List}
      path=${`${path}/attempts`}
      caption="Attempts of the last 30 days"
      columns=${attemptColumns}
      version=${version}
      tools=${html`<h2>Attempts</h2>`}
      file=${`webhook-${id}-attempts`}
      empty="Nothing was sent yet. Send a test, or wait for a change."
    />`
}
