import { html } from '../lib/html.js'
import { t } from '../lib/text.js'
import { Copy } from './secret.js'

/**
 * A way to set something up, step by step. A step can have a command for the server's shell, which can be copied.
 * @param {{ title: string, lead?: unknown, steps?: { text: unknown, command?: string }[], children?: unknown }} props `children`: after the steps
 */
export const Guide = ({ title, lead, steps = [], children }) => html`<section class="card guide" aria-label=${title}>
  <h2 class="small-title">${title}</h2>
  ${lead && html`<p class="note">${lead}</p>`}
  ${
    steps.length > 0 &&
    html`<ol>${steps.map(
      ({ text, command }, i) =>
        html`<li key=${i}>${text}${command && html`<div class="command"><code>${command}</code><${Copy} name=${t('Copy command {number}: {title}', { number: i + 1, title })} value=${command} /></div>`}</li>`,
    )}</ol>`
  }
  ${children}
</section>`
