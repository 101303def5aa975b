import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'

/**
 * What is shown once, and can be copied.
 * @param {{ what: string, facts: [name: string, value: string][], done: () => void }} props
 */
export function Secret({ what, facts, done }) {
  return html`<div class="card secret" role="status">
    <p><b>${what}</b> It is shown this once, and kept nowhere: copy it now.</p>
    <dl class="facts-list">
      ${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd><code>${value}</code> <${Copy} name=${name} value=${value} /></dd></div>`)}
    </dl>
    <p class="choices"><button onClick=${done}>I have it</button></p>
  </div>`
}

/** @param {{ name: string, value: string }} props */
function Copy({ name, value }) {
  const [copied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(value).then(() => setCopied(true))
  return html`<button class="quiet" aria-label=${`Copy ${name}`} onClick=${copy}>${copied ? 'Copied' : 'Copy'}</button>`
}
