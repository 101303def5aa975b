import { useEffect, useState } from 'preact/hooks'
import { importTypes as allImportTypes } from 'tillbridge/import-types'
import { download } from '../../components/export.js'
import { Checkbox, Choice, Field } from '../../components/field.js'
import { Timestamp } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useHasRole } from '../../lib/role.js'
import { plural, rich, t } from '../../lib/text.js'
import { Columns } from './columns.js'
import {
  dateFormats,
  delimiters,
  detectFormat,
  detectImportType,
  detectValueFormats,
  encodings,
  findTimeColumn,
  findTimedColumn,
  matchColumns,
  readSample,
  recognizeColumns,
} from './detect.js'
import { useImportTypes } from './import-types.js'
import { Preview, Unmapped } from './preview.js'
import { hashHeader, toPlan, toProfile, toUploadProfile } from './profile.js'
import { groupTypes } from './type-names.js'

/** @typedef {import('./profile.js').Plan} Plan */
/** @typedef {Awaited<ReturnType<typeof readSample>>} Sample */

/**
 * The import type, format and column mapping of a file, and buttons that send it.
 * @param {{ file: File, type: string, isHidden: boolean, send: (upload: import('./profile.js').Upload) => void }} props
 */
export function Form({ file, type: requestedType, isHidden, send }) {
  const isMaintainer = useHasRole('maintainer')
  const importTypes = useImportTypes()
  const [plan, setPlan] = useState(/** @type {Plan | undefined} */ (undefined))
  const [sample, setSample] = useState(/** @type {Sample | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const [saved, setSaved] = useState(/** @type {import('./profile.js').SavedProfile | undefined} */ (undefined))
  const [remembers, setRemembers] = useState(true)

  /** Reads the first rows in this format, and detects the rest of the plan. @param {Plan['fileFormat']} format @param {string} [chosenType] */
  const read = async (format, chosenType) => {
    try {
      const rows = await readSample(file, format)
      setSample(rows)
      const profile = chosenType ? undefined : await findProfile(rows.header)
      const isUsable = profile && importTypes[profile.type]
      const type = chosenType ?? detectImportType(importTypes, file.name, rows.header)
      setSaved(isUsable ? profile : undefined)
      setPlan(
        isUsable ? toPlan(profile, format, rows.header, isUsable.columns) : detectPlan(importTypes, format, type, rows),
      )
      setError(undefined)
    } catch (reason) {
      setError(reason)
    }
  }
  useEffect(() => {
    detectFormat(file).then(format => read(format, importTypes[requestedType] && requestedType), setError)
  }, [])
  if (isHidden || !isMaintainer) return null
  if (error && !plan)
    return html`<p class="problem" role="alert">${t("Can't read {name}. It must be a text file, optionally gzipped.", { name: file.name })} <small>${String(error)}</small></p>`
  if (!plan || !sample) return html`<p class="opening" role="status">Reading…</p>`

  const { type, fileFormat, map, constants } = plan
  const { header, rows, lines } = sample
  const columns = importTypes[type]?.columns ?? []
  const adminColumns =
    allImportTypes[type]?.columns.filter(({ name }) => !columns.some(column => column.name === name)) ?? []
  const timedColumn = findTimedColumn(columns, map)
  const missing = columns.filter(({ name, required }) => required && !(name in map) && !constants[name])
  /** @param {Partial<Plan>} changes */
  const change = changes =>
    setPlan(Object.assign({}, plan, changes.map && redetectValueFormats(columns, plan, changes.map, sample), changes))
  const discardSaved = () => {
    setSaved(undefined)
    setPlan(detectPlan(importTypes, fileFormat, detectImportType(importTypes, file.name, header), sample))
  }
  const submit = (/** @type {boolean} */ isDryRun) => async () => {
    const profile = toUploadProfile(plan, header)
    const remembered = remembers && header.length > 0 ? { header: await hashHeader(header), type, profile } : undefined
    send({ file, plan, profile, header, lines, isDryRun, remembered })
  }
  return html`
    <${SavedNotice} saved=${saved} discard=${discardSaved} />
    <section aria-label="Format" class="card">
      <div class="fields">
        <${Choice} label="File type" value=${type} change=${(/** @type {string} */ next) => setPlan(detectPlan(importTypes, fileFormat, next, sample))} groups=${groupTypes(Object.keys(importTypes))} />
        ${
          !fileFormat.isJson &&
          html`<${Choice} label="Separator" value=${fileFormat.delimiter} change=${(/** @type {string} */ delimiter) => read({ ...fileFormat, delimiter }, type)} options=${delimiters} />
            <${Choice} label="Encoding" value=${fileFormat.encoding} change=${(/** @type {string} */ encoding) => read({ ...fileFormat, encoding, isGuessed: false }, type)} options=${encodings.map(encoding => [encoding, encoding])} />`
        }
        <${Choice} label="Numbers" value=${plan.decimal} change=${(/** @type {string} */ decimal) => change({ decimal })} options=${[['', '1234.50'], ['.', '1,234.50'], [',', '1.234,50']]} />
        <${Field} label="Dates" list="date-formats" value=${plan.dateFormat} change=${(/** @type {string} */ dateFormat) => change({ dateFormat })} placeholder="YYYY-MM-DD" hint="D day, M month, Y year: DD.MM.YYYY" />
        <datalist id="date-formats">${dateFormats.map(([format]) => format && html`<option key=${format} value=${format} />`)}</datalist>
        ${timedColumn && html`<${Choice} label="Time of day" value=${plan.timeColumn ?? ''} change=${(/** @type {string} */ timeColumn) => change({ timeColumn })} options=${[['', t('in the date')], ...header.filter(Boolean).map(name => [name, name])]} />`}
      </div>
      <p class="note">${importTypes[type]?.description} ${t('Detected from the first rows. Check before you import.')}</p>
    </section>
    <${Preview} header=${header} rows=${rows} map=${map} columns=${columns} change=${change} />
    <${Columns} key=${[type, ...header].join('\n')} columns=${columns} header=${header} rows=${rows} map=${map} constants=${constants} change=${change} />
    ${error && html`<${Problem} error=${error} />`}
    <${Unmapped} header=${header} map=${{ ...map, ...(plan.timeColumn && { time: plan.timeColumn }) }} adminNames=${Object.values(matchColumns(adminColumns, header))} />
    ${missing.length > 0 && html`<p class="problem" role="alert">${plural(missing.length, 'Map the required column {names}.', 'Map the required columns {names}.', { names: missing.map(({ name }) => name).join(', ') })}</p>`}
    ${importTypes[type]?.canBeComplete && html`<${Checkbox} label=${completeLabels[type]} checked=${plan.isComplete ?? false} change=${(/** @type {boolean} */ isComplete) => change({ isComplete })} />`}
    <${Checkbox} label="Remember these columns" checked=${remembers} change=${setRemembers} />
    <p class="choices">
      <button class="main" disabled=${missing.length > 0} onClick=${submit(true)}>Dry run</button>
      <button disabled=${missing.length > 0} onClick=${submit(false)}>Import</button>
      <button class="quiet" onClick=${() => download(`${type}.profile.json`, `${JSON.stringify(toProfile(plan, header), null, 2)}\n`)}>Download profile</button>
    </p>`
}

/** @param {{ saved: import('./profile.js').SavedProfile | undefined, discard: () => void }} props */
const SavedNotice = ({ saved, discard }) =>
  saved &&
  html`<p class="card notice" role="status">
    <span>${rich('<b>Remembered columns.</b> Saved by {username} {time} for a file with the same header.', { username: saved.username, time: html`<${Timestamp} time=${saved.savedAt} />` })}</span>
    <span><button onClick=${discard}>Detect them again</button></span>
  </p>`

/** @type {Record<string, string>} */
const completeLabels = {
  stock: t('The file is complete: set other stock of its stores to 0'),
  products: t('The file is complete: remove other SKUs'),
  customers: t('The file is complete: remove other customers'),
}

/** Returns the profile that was saved for files with these columns. @param {string[]} header */
async function findProfile(header) {
  try {
    const [hash, { data }] = await Promise.all([hashHeader(header), callApi('/console/import-profiles')])
    return /** @type {import('./profile.js').SavedProfile[]} */ (data).find(profile => profile.header === hash)
  } catch {
    // The columns are detected instead.
    return undefined
  }
}

/** Detects the column mapping and value formats of a file. @param {ReturnType<typeof useImportTypes>} importTypes @param {Plan['fileFormat']} fileFormat @param {string} type @param {Sample} sample @returns {Plan} */
function detectPlan(importTypes, fileFormat, type, sample) {
  const columns = importTypes[type]?.columns ?? []
  const map = recognizeColumns(columns, sample)
  const timeColumn = findTimedColumn(columns, map) && findTimeColumn(map, sample)
  return { type, fileFormat, map, constants: {}, timeColumn, ...detectValueFormats(columns, map, sample) }
}

/** Detects the value formats again after the mapping has changed, except those that the user has chosen. @param {import('tillbridge/import-types').Column[]} columns @param {Plan} plan @param {Plan['map']} newMap @param {Sample} sample @returns {Partial<Plan>} */
function redetectValueFormats(columns, { map, decimal, dateFormat }, newMap, sample) {
  const [previous, next] = [detectValueFormats(columns, map, sample), detectValueFormats(columns, newMap, sample)]
  return {
    decimal: decimal === previous.decimal ? next.decimal : decimal,
    dateFormat: dateFormat === previous.dateFormat ? next.dateFormat : dateFormat,
  }
}
