import { State } from '../../components/format.js'
import { html } from '../../lib/html.js'

/** A number that links to its screen. @param {{ title: string, route: string, number: unknown, text: string, tone: import('../../components/format.js').Tone }} props */
export const StatCard = ({ title, route, number, text, tone }) => html`<a class="stat card" href=${route}>
  <span>${title}</span>
  <b>${number}</b>
  <small>${tone === 'idle' ? text : html`<${State} state=${text} tone=${tone} />`}</small>
</a>`
