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
      ${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd><code>${value}</code> <${Copy} name=${name} value=${value} /></dd></div>`)}
    </dl>
    <p class="choices"><button onClick=${done}>Done</button></p>
  </div>`
}

/** @param {{ name: string, value: string }} props */
function Copy({ name, value }) {
  const [copied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(value).then(() => setCopied(true))
  return html`<button class="quiet" aria-label=${t('Copy {name}', { name })} onClick=${copy}>${copied ? t('Copied') : t('Copy')}</button>`
}
