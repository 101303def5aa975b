import { useState } from 'preact/hooks'
import { assessWebhook, formatDuration } from 'tillbridge/health'
import { Dialog } from '../components/dialog.js'
import { Health, Timestamp } from '../components/format.js'
import { List } from '../components/list.js'
import { Secret } from '../components/secret.js'
import { useLoad, useVersion } from '../components/use-load.js'
import { useRefresh } from '../components/use-refresh.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { t } from '../lib/text.js'
import { formatNextAttempt, formatSuccess } from './webhooks/deliveries.js'
import { Endpoint } from './webhooks/endpoint.js'
import { EndpointForm } from './webhooks/form.js'

/** @param {Map<string, any>} deliveries the deliveries of 24 hours by webhook @returns {import('../components/table.js').Column[]} */
const columns = deliveries => [
  {
    title: t('Endpoint'),
    value: webhook =>
      html`<a href=${linkTo('webhooks', webhook.id)}>${webhook.url}</a>${webhook.description && html`<br /><small>${webhook.description}</small>`}`,
    text: webhook => webhook.url,
  },
  {
    title: t('State'),
    value: webhook => html`<${Health} ...${assessWebhook(webhook)} />`,
    text: webhook => assessWebhook(webhook).state,
  },
  {
    title: t('Lag'),
    name: t('Lag (s)'),
    right: true,
    value: webhook => (webhook.lag.seconds ? formatDuration(webhook.lag.seconds) : t('up to date')),
    text: webhook => String(webhook.lag.seconds),
  },
  {
    title: t('Last delivered'),
    value: webhook => html`<${Timestamp} time=${webhook.lastSuccessAt} />`,
    text: webhook => webhook.lastSuccessAt ?? '',
  },
  {
    title: t('Delivered, 24 h'),
    right: true,
    value: webhook => formatSuccess(deliveries.get(webhook.id) ?? { delivered: 0, failed: 0 }),
  },
  {
    title: t('Next attempt'),
    value: webhook => {
      const pending = deliveries.get(webhook.id)
      return pending ? formatNextAttempt(pending) : null
    },
    text: webhook => deliveries.get(webhook.id)?.nextAttemptAt ?? '',
  },
  { title: t('Event types'), value: webhook => (webhook.kinds.length ? webhook.kinds.join(', ') : t('all')) },
]

/** The webhook endpoints, or one of them. @param {{ parts: string[] }} props */
export const Screen = ({ parts: [id] }) => (id ? html`<${Endpoint} key=${id} id=${id} />` : html`<${Endpoints} />`)

function Endpoints() {
  const [version, refresh] = useVersion()
  const [adding, setAdding] = useState(false)
  const [created, setCreated] = useState(/** @type {any} */ (undefined))
  const refreshCount = useRefresh()
  const { data } = useLoad(signal => callApi('/console/webhooks', { signal }), [version], refreshCount)
  const deliveries = new Map(data?.data.map((/** @type {any} */ webhook) => [webhook.id, webhook]))
  const add = async (/** @type {object} */ body) => {
    const response = await callApi('/webhooks', { method: 'POST', body })
    setAdding(false)
    setCreated(response.data)
    refresh()
  }
  return html`<h1>Webhooks</h1>
    <p class="lead">Endpoints of yours that receive changes, in order. Failed deliveries are retried.</p>
    ${created && html`<${Secret} title=${t('Signing secret of {url}.', { url: created.url })} facts=${[[t('secret'), created.secret]]} done=${() => setCreated(undefined)} />`}
    ${adding && html`<${Dialog} title="New endpoint" close=${() => setAdding(false)}><${EndpointForm} save=${add} isNew /><//>`}
    <${List}
      path="/webhooks"
      caption="Endpoints"
      columns=${columns(deliveries)}
      version=${`${version} ${refreshCount}`}
      file="webhooks"
      empty="No webhooks yet. Add an endpoint to receive changes from now on."
      tools=${html`<button class="main" onClick=${() => setAdding(true)}>New endpoint</button>`}
    />`
}
