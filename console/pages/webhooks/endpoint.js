import { useState } from 'preact/hooks'
import { assessWebhook, formatDuration } from 'tillbridge/health'
import { Action } from '../../components/action.js'
import { useRange } from '../../components/bars.js'
import { Dialog } from '../../components/dialog.js'
import { Facts, Health, State, Timestamp } from '../../components/format.js'
import { List } from '../../components/list.js'
import { Problem } from '../../components/problem.js'
import { RecordForm } from '../../components/record-form.js'
import { Secret } from '../../components/secret.js'
import { showToast } from '../../components/toast.js'
import { useKeptFocus } from '../../components/use-kept-focus.js'
import { useLoad, useVersion } from '../../components/use-load.js'
import { useRefresh } from '../../components/use-refresh.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { goTo, linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'
import { formatMs } from '../requests/format.js'
import { Attempt, formatOutcome, isDelivered } from './attempt.js'
import { DeliveryChart, formatBacklog, formatNextAttempt } from './deliveries.js'
import { EndpointForm } from './form.js'
import { ReplayForm } from './replay.js'

/** @param {(id: string) => void} open @returns {import('../../components/table.js').Column[]} */
const attemptColumns = open => [
  {
    title: t('Time'),
    value: attempt =>
      html`<button class="link" onClick=${() => open(attempt.id)}><${Timestamp} time=${attempt.at} /></button>`,
    text: attempt => attempt.at,
    shrink: true,
  },
  {
    title: t('Outcome'),
    value: attempt => html`<${State} state=${formatOutcome(attempt)} tone=${isDelivered(attempt) ? 'good' : 'bad'} />`,
    text: formatOutcome,
  },
  { title: t('Changes'), right: true, value: attempt => attempt.changes },
  {
    title: t('Duration'),
    name: t('Duration (ms)'),
    right: true,
    value: attempt => formatMs(attempt.milliseconds),
    text: attempt => String(attempt.milliseconds),
  },
  {
    title: t('Response'),
    value: attempt => (attempt.response ? html`<code>${attempt.response.slice(0, 120)}</code>` : null),
    text: attempt => attempt.response ?? '',
  },
  {
    title: t('Delivery'),
    value: attempt => html`<code>${attempt.deliveryId}</code>`,
    text: attempt => attempt.deliveryId,
  },
]

/** The outcome of an attempt that an operator has started. @param {{ name: string, attempt: any }} props */
const SingleAttempt = ({ name, attempt }) =>
  html`<p role="status"><${State} state=${isDelivered(attempt) ? t('{name} delivered', { name }) : t('{name} failed', { name })} tone=${isDelivered(attempt) ? 'good' : 'bad'} />: ${formatOutcome(attempt)}, ${formatMs(attempt.milliseconds)}</p>`

/** @param {{ record: any, save: (body: object) => Promise<void> }} props */
const renderEditForm = ({ record, save }) => html`<${EndpointForm} endpoint=${record} save=${save} />`

/** An endpoint with its state, actions and delivery attempts. @param {{ id: string }} props */
export function Endpoint({ id }) {
  const path = `/webhooks/${encodeURIComponent(id)}`
  const refreshCount = useRefresh()
  const { data, error, reload } = useLoad(
    signal => callApi(path, { signal }).then(response => response.data),
    [id],
    refreshCount,
  )
  const [version, refresh] = useVersion()
  const [open, setOpen] = useState('')
  const [attempt, setAttempt] = useState('')
  const { range, tools } = useRange()
  const [secret, setSecret] = useState(/** @type {string | undefined} */ (undefined))
  const [singleAttempt, setSingleAttempt] = useState(
    /** @type {{ name: string, attempt: any } | undefined} */ (undefined),
  )
  const container = useKeptFocus()
  const { data: deliveries, error: deliveriesError } = useLoad(
    signal => callApi(`/console${path}?range=${range}`, { signal }).then(response => response.data),
    [id, range, version],
    refreshCount,
  )

  if (error && !data)
    return html`<p class="trail"><a href=${linkTo('webhooks')}>Webhooks</a></p><h1>Webhook</h1><${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`

  const health = assessWebhook(data)
  const needsRetry = health.level !== 'ok' && data.state !== 'paused'
  const showChange = () => {
    setOpen('')
    reload()
    refresh()
  }
  /** @param {string} action @param {object} [body] */
  const post = (action, body = {}) => callApi(`${path}/${action}`, { method: 'POST', body })
  const run = (/** @type {string} */ action) => () => post(action).then(showChange)
  const test = async () => {
    setSingleAttempt({ name: t('Test'), attempt: (await post('test')).data })
    refresh()
  }
  const showResent = (/** @type {any} */ resent) => {
    setAttempt('')
    setSingleAttempt({ name: t('Resend'), attempt: resent })
    refresh()
  }
  const rotate = async () => {
    setSecret((await post('rotate-secret')).data.secret)
    showChange()
  }
  const remove = () => callApi(path, { method: 'DELETE' }).then(() => goTo('webhooks'))

  return html`<p class="trail"><a href=${linkTo('webhooks')}>Webhooks</a></p>
    <h1 class="address">${data.url}</h1>
    ${error && html`<${Problem} error=${error} />`}
    ${secret && html`<${Secret} title="The new signing secret. Both secrets are valid for 24 hours." facts=${[[t('secret'), secret]]} done=${() => setSecret(undefined)} />`}
    <div class="card" tabindex="-1" ref=${container}>
      <${Facts}
        facts=${[
          [
            t('State'),
            html`<${Health} ...${health} />${data.stateReason && html` <small>${data.stateReason}</small>`}`,
          ],
          [t('Lag'), data.lag.seconds ? formatDuration(data.lag.seconds) : t('up to date')],
          [t('Backlog'), deliveries && formatBacklog(deliveries)],
          [t('Next attempt'), deliveries && formatNextAttempt(deliveries)],
          [t('Last delivered'), html`<${Timestamp} time=${data.lastSuccessAt} />`],
          [
            t('Last failure'),
            data.lastFailure &&
              html`<${Timestamp} time=${data.lastFailure.at} /> <small>${data.lastFailure.detail}</small>`,
          ],
          [t('Event types'), data.kinds.length ? data.kinds.join(', ') : t('all')],
          [t('Description'), data.description],
        ]}
      />
      <p class="choices">
        <${Action} label="Send test event" role="admin" main=${!needsRetry} work=${test} />
        ${needsRetry && html`<${Action} label="Retry now" role="admin" main done="Delivery resumed" work=${run('resume')} />`}
        ${
          data.state === 'paused'
            ? html`<${Action} label="Resume" role="admin" done="Delivery resumed" work=${run('resume')} />`
            : html`<${Action} label="Pause" title=${t('Pause {url}', { url: data.url })} role="admin" done="Webhook paused" work=${run('pause')} confirm="Changes wait and are sent when you resume." />`
        }
        <button onClick=${() => setOpen('replay')}>Replay</button>
        <button onClick=${() => setOpen('edit')}>Edit</button>
        <${Action} label="Rotate secret" title=${t('Rotate the secret of {url}', { url: data.url })} role="admin" work=${rotate} confirm="Creates a new signing secret. Both secrets are valid for 24 hours." />
        <${Action} label="Delete" title=${t('Delete {url}', { url: data.url })} role="admin" danger done="Webhook deleted" work=${remove} confirm="Deliveries stop, and waiting events are discarded. This can't be undone." />
      </p>
      ${singleAttempt && html`<${SingleAttempt} ...${singleAttempt} />`}
    </div>
    ${open === 'edit' && html`<${Dialog} title="Edit endpoint" close=${() => setOpen('')}><${RecordForm} path=${path} done=${showChange} form=${renderEditForm} /><//>`}
    ${
      open === 'replay' &&
      html`<${Dialog} title="Replay" close=${() => setOpen('')}><${ReplayForm} replay=${(/** @type {string} */ to) =>
        post('rewind', { to }).then(() => {
          showChange()
          showToast(t('Replay started'))
        })} /><//>`
    }
    ${deliveriesError && html`<${Problem} error=${deliveriesError} />`}
    ${deliveries && html`<${DeliveryChart} deliveries=${deliveries} tools=${tools} />`}
    ${attempt && html`<${Attempt} webhookId=${id} id=${attempt} close=${() => setAttempt('')} resent=${showResent} />`}
    <${List}
      path=${`${path}/attempts`}
      caption="Attempts of the last 30 days"
      columns=${attemptColumns(setAttempt)}
      version=${[version, data.lastSuccessAt, data.lastFailure?.at].join(' ')}
      tools=${html`<h2>Attempts</h2>`}
      file=${`webhook-${id}-attempts`}
      empty="No attempts yet. Send a test event, or wait for a change."
    />`
}
