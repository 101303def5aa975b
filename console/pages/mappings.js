import { html } from '../lib/html.js'
import { Check } from './mappings/check.js'
import { Fixes } from './mappings/fixes.js'
import { MappingTable } from './mappings/mapping-table.js'

/** Mappings of stores, SKUs and customers to the e-commerce platform. @param {{ parts: string[] }} props */
export function Screen({ parts: [view = 'check', kind, state] }) {
  if (view === 'check') return html`<${Check} kind=${kind} state=${state} />`
  if (view === 'fixes') return html`<${Fixes} />`
  return html`<${MappingTable} kind=${view} />`
}
