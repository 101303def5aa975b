import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { t } from '../../lib/text.js'

/** @type {[name: string, title: string, route: string[]][]} */
const views = [
  ['check', t('Check'), ['mappings', 'check']],
  ['all', t('All mappings'), ['mappings', 'skus']],
  ['fixes', t('Fixes'), ['mappings', 'fixes']],
]

/** The heading of the mappings, and links to its views. @param {{ view: string, lead: unknown }} props */
export const MappingsHead = ({ view, lead }) => html`<h1>Mappings</h1>
  <div class="tabs" role="group" aria-label="Mappings">
    ${views.map(([name, title, route]) => html`<a key=${name} href=${linkTo(...route)} aria-current=${name === view ? 'page' : undefined}>${title}</a>`)}
  </div>
  <p class="lead">${lead}</p>`
