import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'

/** @type {[name: string, title: string, route: string[]][]} */
const views = [
  ['check', 'Check', ['mappings', 'check']],
  ['all', 'All mappings', ['mappings', 'skus']],
  ['fixes', 'Fixes', ['mappings', 'fixes']],
]

/** The heading of the mappings, and links to its views. @param {{ view: string, lead: unknown }} props */
export const MappingsHead = ({ view, lead }) => html`<h1>Mappings</h1>
  <div class="tabs" role="group" aria-label="Mappings">
    ${views.map(([name, title, route]) => html`<a key=${name} href=${linkTo(...route)} aria-current=${name === view ? 'page' : undefined}>${title}</a>`)}
  </div>
  <p class="lead">${lead}</p>`
