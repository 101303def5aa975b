import { html } from '../lib/html.js'
import { Export } from './export.js'
import { Table } from './table.js'

/**
 * Rows that are all here, under their title; saved as they are.
 * @param {{
 *   title?: unknown, caption: string, columns: import('./table.js').Column[], rows: any[], file: string, keyOf?: (row: any) => string,
 * }} props
 */
export const ExportableTable = ({ title, file, ...table }) => html`<section class="list">
  <div class="tools">
    ${title}
    <span class="aside"><${Export} all=${() => [table.rows]} columns=${table.columns} of=${table.caption} file=${file} /></span>
  </div>
  <${Table} ...${table} />
</section>`
