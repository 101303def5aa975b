import { State } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'

/** A figure that leads to where it comes from. @param {{ title: string, place: string[], number: unknown, words: string, tone: 'good' | 'bad' | 'warn' | 'idle' }} props */
export const StatCard = ({ title, place, number, words, tone }) => html`<a class="figure card" href=${linkTo(...place)}>
  <span>${title}</span>
  <b>${number}</b>
  <small>${tone === 'idle' ? words : html`<${State} state=${words} tone=${tone} />`}</small>
</a>`
