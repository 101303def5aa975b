import { useEffect, useState } from 'preact/hooks'
import { download } from '../../components/export.js'
import { Choice, Field } from '../../components/field.js'
import { Problem } from '../../components/problem.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { Columns } from './columns.js'
import {
  delimiters,
  detectFormat,
  detectImportType,
  detectValueFormats,
  encodings,
  matchColumns,
  readSample,
} from './detect.js'
import { useImportTypes } from './import-types.js'
import { Preview } from './preview.js'
import { toProfile, toUploadProfile } from './profile.js'

/** @typedef {import('./profile.js').Plan} Plan */
/** @typedef {Awaited<ReturnType<typeof readSample>>} First */

/**
 * How a file is written, what its columns are, and sending it.
 * @param {{ file: File, type: string, isHidden: boolean, send: (sent: import('./profile.js').Sent) => void }} props
 */
export function Form({ file, type: requestedType, isHidden, send }) {
  const may = useHasRole('maintainer')
  const importTypes = useImportTypes()
  const [plan, setPlan] = useState(/** @type {Plan | undefined} */ (undefined))
  const [first, setFirst] = useState(/** @type {First | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))

  /** Reads the first rows anew: what they are called, and how they are spelled, follows. @param {Plan['reading']} reading @param {string} [wanted] */
  const read = async (reading, wanted) => {
    try {
      const found = await readSample(file, reading)
      setFirst(found)
      setPlan(detectPlan(importTypes, reading, wanted ?? detectImportType(importTypes, file.name, found.header), found))
      setError(undefined)
    } catch (fault) {
      setError(fault)
    }
  }
  useEffect(() => {
    detectFormat(file).then(reading => read(reading, importTypes[requestedType] && requestedType), setError)
  }, [])
  if (isHidden || !may) return null
  if (error && !plan)
    return html`<p class="problem" role="alert">${file.name} cannot be read: is it text, or packed with gzip? <small>${String(error)}</small></p>`
  if (!plan || !first) return html`<p class="opening" role="status">Reading…</p>`

  const { type, reading, from, set } = plan
  const columns = importTypes[type]?.columns ?? []
  const lacking = columns.filter(({ name, required }) => required && !(name in from) && !set[name])
  /** @param {Partial<Plan>} change */
  const change = change =>
    setPlan(Object.assign({}, plan, change.from && redetectValueFormats(columns, plan, change.from, first), change))
  const go = (/** @type {boolean} */ isTrial) => () =>
    send({
      file,
      plan,
      profile: toUploadProfile(plan, first.header),
      header: first.header,
      lines: first.lines,
      isTrial,
    })
  return html`
    <section aria-label="How it is written" class="card">
      <div class="fields">
        <${Choice} label="Rows are" value=${type} change=${(/** @type {string} */ next) => setPlan(detectPlan(importTypes, reading, next, first))} options=${Object.keys(importTypes).map(name => [name, name])} />
        ${
          !reading.isJson &&
          html`<${Choice} label="Separator" value=${reading.delimiter} change=${(/** @type {string} */ delimiter) => read({ ...reading, delimiter }, type)} options=${delimiters} />
            <${Choice} label="Encoding" value=${reading.encoding} change=${(/** @type {string} */ encoding) => read({ ...reading, encoding }, type)} options=${encodings.map(each => [each, each])} />`
        }
        <${Choice} label="Numbers" value=${plan.decimal} change=${(/** @type {string} */ decimal) => change({ decimal })} options=${[['', '1234.50'], ['.', '1,234.50'], [',', '1.234,50']]} />
        <${Field} label="Dates" value=${plan.dateFormat} change=${(/** @type {string} */ dateFormat) => change({ dateFormat })} placeholder="YYYY-MM-DD" />
      </div>
      <p class="note">${importTypes[type]?.description} All of this is guessed from the first rows: change what is wrong.</p>
    </section>
    <${Preview} header=${first.header} rows=${first.rows} from=${from} columns=${columns} />
    <${Columns} key=${[type, ...first.header].join('\n')} columns=${columns} header=${first.header} rows=${first.rows} from=${from} set=${set} change=${change} />
    ${error && html`<${Problem} error=${error} />`}
    ${lacking.length > 0 && html`<p class="problem" role="alert">Say what ${lacking.map(({ name }) => name).join(', ')} ${lacking.length === 1 ? 'is' : 'are'}: ${lacking.length === 1 ? 'it is' : 'they are'} needed.</p>`}
    <p class="choices">
      <button class="main" disabled=${lacking.length > 0} onClick=${go(true)}>Try it, write nothing</button>
      <button disabled=${lacking.length > 0} onClick=${go(false)}>Import</button>
      <button class="quiet" onClick=${() => download(`${type}.profile.json`, `${JSON.stringify(toProfile(plan, first.header), null, 2)}\n`)}>Save as a profile</button>
    </p>`
}

/** What the columns and the spelling of a file seem to be. @param {ReturnType<typeof useImportTypes>} importTypes @param {Plan['reading']} reading @param {string} type @param {First} first @returns {Plan} */
function detectPlan(importTypes, reading, type, first) {
  const columns = importTypes[type]?.columns ?? []
  const from = matchColumns(columns, first.header)
  return { type, reading, from, set: {}, ...detectValueFormats(columns, from, first) }
}

/** How a file is spelt by the columns that were chosen, but for what somebody has said. @param {import('tillbridge/import-types').Column[]} columns @param {Plan} plan @param {Plan['from']} from @param {First} first @returns {Partial<Plan>} */
function redetectValueFormats(columns, { from: before, decimal, dateFormat }, from, first) {
  const [then, now] = [detectValueFormats(columns, before, first), detectValueFormats(columns, from, first)]
  return {
    decimal: decimal === then.decimal ? now.decimal : decimal,
    dateFormat: dateFormat === then.dateFormat ? now.dateFormat : dateFormat,
  }
}
