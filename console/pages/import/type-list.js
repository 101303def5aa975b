import { downloadCsv } from '../../components/export.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'
import { useImportTypes } from './import-types.js'
import { groupTypes } from './type-names.js'

/** The import types that the account may import, with their required columns and a file to fill. */
export function TypeList() {
  const importTypes = useImportTypes()
  return html`<section aria-label="Files that you can import">
    <h2>Files that you can import</h2>
    <p class="note">A template is an empty CSV file with all columns of a type. Columns can have other names: you match them after you have chosen the file.</p>
    <div class="bar-lists">
      ${groupTypes(Object.keys(importTypes)).map(
        ([group, types]) => html`<section class="card" key=${group} aria-label=${group}>
          <h3 class="small-title">${group}</h3>
          <ul class="type-list">${types.map(([name, title]) => {
            const columns = importTypes[name]?.columns ?? []
            const required = columns.flatMap(column => (column.required ? [column.name] : []))
            return html`<li key=${name}>
              <span><a href=${`docs/reference/import-formats/${name}`} target="_blank" rel="noopener">${title}</a>
                <small>${required.length > 0 ? t('Required: {columns}', { columns: required.join(', ') }) : t('No column is required on every line')}</small></span>
              <button class="quiet" aria-label=${t('Template for {type}', { type: title })} onClick=${() => downloadCsv(`${name}.csv`, [columns.map(column => column.name)])}>Template</button>
            </li>`
          })}</ul>
        </section>`,
      )}
    </div>
  </section>`
}
