import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { t } from '../lib/text.js'

/**
 * Secrets that are shown once, with copy buttons.
 * @param {{ title: string, facts: [name: string, value: string][], done: () => void }} props
 */
export function Secret({ title, facts, done }) {
  return html`<div class="card secret" role="status">
    <p><b>${title}</b> ${t("Copy it now. It won't be shown again.")}</p>
    <dl class="facts-list">
      ${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd><code>${value}</code> <${Copy} name=${t('Copy {name}', { name })} value=${value} /></dd></div>`)}
    </dl>
    <p class="choices">
      ${facts.length > 1 && html`<${Copy} label=${t('Copy all')} value=${facts.map(([name, value]) => `${name}: ${value}`).join('\n')} />`}
      <button class="main" onClick=${done}>Done</button>
    </p>
  </div>`
}

/** A button that copies a text. @param {{ label?: string, name?: string, value: string }} props `name`: the accessible name */
export function Copy({ label = t('Copy'), name, value }) {
  const [copied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(value).then(() => setCopied(true))
  return html`<button class="quiet" aria-label=${name} onClick=${copy}>${copied ? t('Copied') : label}</button>`
}
