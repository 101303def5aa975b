import { html } from '../lib/html.js'
import { t } from '../lib/text.js'
import { Copy } from './secret.js'

/**
 * A way to set something up, step by step. A step can have a command for the server's shell, which can be copied.
 * @param {{ title: string, lead?: unknown, steps: { text: unknown, command?: string }[], page: string }} props `page`: the page of the documentation with all steps
 */
export const Guide = ({ title, lead, steps, page }) => html`<section class="card guide" aria-label=${title}>
  <h2 class="small-title">${title}</h2>
  ${lead && html`<p class="note">${lead}</p>`}
  <ol>
    ${steps.map(
      ({ text, command }, i) =>
        html`<li key=${i}>${text}${command && html`<div class="command"><code>${command}</code><${Copy} name=${t('Copy command {number}: {title}', { number: i + 1, title })} value=${command} /></div>`}</li>`,
    )}
  </ol>
  <p class="choices"><a class="button" href=${`docs/${page}`} target="_blank" rel="noopener">Read the guide</a></p>
</section>`
