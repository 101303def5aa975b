import { html } from '../lib/html.js'
import { Export } from './export.js'
import { Table } from './table.js'

/**
 * A table of rows that are already loaded, with an export button.
 * @param {{
 *   title?: unknown, caption: string, columns: import('./table.js').Column[], rows: any[], file: string, getKey?: (row: any) => string,
 * }} props
 */
export const ExportableTable = ({ title, file, ...table }) => html`<section class="list">
  <div class="tools">
    ${title}
    <span class="aside"><${Export} load=${() => [table.rows]} columns=${table.columns} caption=${table.caption} file=${file} /></span>
  </div>
  <${Table} ...${table} />
</section>`
