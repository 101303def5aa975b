import { useState } from 'preact/hooks'
import { assessWebhook, formatDuration } from 'tillbridge/health'
import { Dialog } from '../components/dialog.js'
import { Health, Timestamp } from '../components/format.js'
import { List } from '../components/list.js'
import { Secret } from '../components/secret.js'
import { useVersion } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { Endpoint } from './webhooks/endpoint.js'
import { EndpointForm } from './webhooks/form.js'

/** @type {import('../components/table.js').Column[]} */
const columns = [
  {
    title: 'Endpoint',
    value: each =>
      html`<a href=${linkTo('webhooks', each.id)}>${each.url}</a>${each.description && html`<br /><small>${each.description}</small>`}`,
    text: each => each.url,
  },
  {
    title: 'State',
    value: each => html`<${Health} ...${assessWebhook(each)} />`,
    text: each => assessWebhook(each).state,
  },
  {
    title: 'Lag',
    name: 'Lag (s)',
    right: true,
    value: each => (each.lag.seconds ? formatDuration(each.lag.seconds) : 'up to date'),
    text: each => String(each.lag.seconds),
  },
  {
    title: 'Last delivered',
    value: each => html`<${Timestamp} time=${each.lastSuccessAt} />`,
    text: each => each.lastSuccessAt ?? '',
  },
  { title: 'Event types', value: each => (each.kinds.length ? each.kinds.join(', ') : 'all') },
]

/** The webhook endpoints, or one of them. @param {{ parts: string[] }} props */
export const Screen = ({ parts: [id] }) => (id ? html`<${Endpoint} key=${id} id=${id} />` : html`<${Endpoints} />`)

function Endpoints() {
  const [version, refresh] = useVersion()
  const [adding, setAdding] = useState(false)
  const [created, setCreated] = useState(/** @type {any} */ (undefined))
  const add = async (/** @type {object} */ body) => {
    const { data } = await callApi('/webhooks', { method: 'POST', body })
    setAdding(false)
    setCreated(data)
    refresh()
  }
  return html`<h1>Webhooks</h1>
    <p class="lead">Endpoints of yours that receive changes, in order. Failed deliveries are retried.</p>
    ${created && html`<${Secret} title=${`Signing secret of ${created.url}.`} facts=${[['secret', created.secret]]} done=${() => setCreated(undefined)} />`}
    ${adding && html`<${Dialog} title="New endpoint" close=${() => setAdding(false)}><${EndpointForm} save=${add} isNew /><//>`}
    <${List}
      path="/webhooks"
      caption="Endpoints"
      columns=${columns}
      version=${version}
      file="webhooks"
      empty="No webhooks yet. Add an endpoint to receive changes from now on."
      tools=${html`<button class="main" onClick=${() => setAdding(true)}>New endpoint</button>`}
    />`
}
