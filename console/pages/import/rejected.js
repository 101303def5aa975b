import { useEffect, useState } from 'preact/hooks'
import { escapeFormula, unescapeFormula } from 'tillbridge/formulas'
import { importTypes } from 'tillbridge/import-types'
import { download, toCsv } from '../../components/export.js'
import { useLeaveGuard } from '../../components/leave-guard.js'
import { Problem } from '../../components/problem.js'
import { html } from '../../lib/html.js'
import { plural, t } from '../../lib/text.js'
import { Corrections } from './corrections.js'
import { parseRecord, toCellText } from './detect.js'
import { readLines } from './lines.js'
import { expandRanges, hasRejectionColumns, rejectionColumns } from './profile.js'

/** @typedef {import('./profile.js').Upload} Upload */
/** @typedef {import('./profile.js').RejectionGroup} RejectionGroup */
/** @typedef {import('./profile.js').EditableLine} EditableLine */

/** Reads these lines of a file by their numbers. @param {Upload} upload @param {Set<number>} numbers */
async function readRejectedLines({ file, plan: { fileFormat }, header }, numbers) {
  /** @type {Map<number, EditableLine>} */
  const lines = new Map()
  for await (const { number, text, cells } of readLines(file, fileFormat)) {
    if (lines.size === numbers.size) break
    // Undecodable characters are lost here, so such a line must be corrected in the source.
    if (!numbers.has(number) || text.includes('\ufffd')) continue
    const values = fileFormat.isJson
      ? header.map(name => toCellText(parseRecord(text)[name]))
      : hasRejectionColumns(header)
        ? cells.map(unescapeFormula)
        : cells
    lines.set(number, { text, cells: values, isEdited: false })
  }
  return lines
}

/**
 * Returns the corrected lines as a file for the same plan. The rejection columns in front show the server that the file isn't complete,
 * so it removes no records (docs/reference/import-formats.md).
 * @param {Upload} upload @param {Map<number, EditableLine>} lines @param {RejectionGroup[]} groups @returns {Upload}
 */
function toCorrectedUpload(upload, lines, groups) {
  const { file, plan, profile, header, isDryRun, remembered } = upload
  const name = file.name.replace(/( \(corrected\))?(\.[a-z]+)?(\.gz)?$/i, '')
  const getRejectionCells = indexRejections(groups)
  // A dry run has written nothing, so its valid lines must be imported too.
  const corrects = isDryRun ? { corrects: { upload, numbers: new Set(lines.keys()) } } : {}
  const common = { lines: lines.size, isDryRun, remembered, ...corrects }
  if (plan.fileFormat.isJson) {
    const text = [...lines]
      .map(([number, line]) => `${toCorrectedRecord(line, header, getRejectionCells(number))}\n`)
      .join('')
    return { file: new File([text], `${name} (corrected).ndjson`), plan, profile, header, ...common }
  }
  const isCorrected = hasRejectionColumns(header)
  const dataIndex = isCorrected ? rejectionColumns.length : 0
  const dataHeader = header.slice(dataIndex)
  const rows = [...lines].map(([number, line]) => {
    const cells = line.cells.slice(dataIndex)
    const [newNumber = '', ...rejectionCells] = getRejectionCells(number)
    // A line keeps the number that it has in the original file. Missing cells of an edited line were shown as empty inputs.
    return [
      (isCorrected && line.cells[0]) || newNumber,
      ...rejectionCells,
      ...(line.isEdited ? dataHeader.map((_, i) => cells[i] ?? '') : cells),
    ]
  })
  const names = [...rejectionColumns, ...dataHeader]
  return {
    file: new File([toCsv([names, ...rows].map(cells => cells.map(escapeFormula)))], `${name} (corrected).csv`),
    plan: Object.assign({}, plan, { fileFormat: { isJson: false, delimiter: ',', encoding: 'utf-8' } }),
    profile: Object.assign({}, profile, { delimiter: ',', encoding: 'utf-8' }),
    header: names,
    ...common,
  }
}

/** Returns a function that builds the rejection columns of a line: its number, columns and reasons. @param {RejectionGroup[]} groups */
function indexRejections(groups) {
  /** @type {Map<number, RejectionGroup[]>} */
  const byNumber = new Map()
  for (const group of groups)
    for (const number of expandRanges(group)) byNumber.set(number, [...(byNumber.get(number) ?? []), group])
  return (/** @type {number} */ number) => {
    const ofLine = byNumber.get(number) ?? []
    return [
      String(number),
      ofLine.map(({ column }) => column).join('; '),
      ofLine.map(({ column, reason }) => (ofLine.length > 1 ? `${column} ${reason}`.trim() : reason)).join('; '),
    ]
  }
}

/**
 * Returns a line of NDJSON with its corrections. Missing properties stay missing, because an empty string would clear the stored value.
 * @param {EditableLine} line @param {string[]} header @param {string[]} rejectionCells
 */
function toCorrectedRecord({ text, cells, isEdited }, header, rejectionCells) {
  const record = parseRecord(text)
  const hasRejection = hasRejectionColumns(Object.keys(record))
  if (isEdited)
    for (const [i, name] of header.entries()) {
      const [previous, next] = [record[name], cells[i] ?? '']
      if (toCellText(previous) !== next)
        record[name] = previous && typeof previous === 'object' ? parseOrKeep(next) : next
    }
  // Keeps the text of an unedited line, because parsing and formatting can change large numbers.
  const json = isEdited ? JSON.stringify(record) : text.trim()
  if (hasRejection || !json.startsWith('{')) return json
  const front = JSON.stringify(Object.fromEntries(rejectionColumns.map((name, i) => [name, rejectionCells[i]])))
  const properties = json.slice(1).trimStart()
  return `${front.slice(0, -1)}${properties.startsWith('}') ? '' : ','}${properties}`
}

/** @param {string} text @returns {unknown} */
function parseOrKeep(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * The rejected lines of a file, grouped by reason, with inputs to correct them and send them again. After the first correction,
 * `corrected.current` builds their upload.
 * @param {{
 *   groups: RejectionGroup[], upload: Upload, send: (upload: Upload) => void, corrected: { current: (() => Upload) | undefined },
 * }} props
 */
export function RejectedLines({ groups, upload, send, corrected }) {
  const [lines, setLines] = useState(/** @type {Map<number, EditableLine> | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const [edits, setEdits] = useState(0)
  const { plan, header, isDryRun } = upload
  const guard = useLeaveGuard(edits > 0, t('Your corrections have not been sent. They are lost if you leave.'))
  useEffect(() => {
    readRejectedLines(upload, new Set(groups.flatMap(({ numbers }) => numbers))).then(setLines, setError)
  }, [])
  if (error) return html`<${Problem} error=${error} />`
  if (!lines) return html`<p class="opening" role="status">Loading the lines…</p>`

  const isSecret = (/** @type {string} */ name) =>
    importTypes[plan.type]?.columns.some(column => column.format === 'secret' && plan.map[column.name] === name) ??
    false
  /** @param {number} number @param {number} index @param {string} text */
  const setCell = (number, index, text) => {
    const line = lines.get(number)
    if (!line) return
    const cells = [...line.cells]
    cells[index] = text
    lines.set(number, { text: line.text, cells, isEdited: true })
    corrected.current = build
    setEdits(previous => previous + 1)
  }
  const hasMore = groups.some(group => group.lines > group.numbers.length)
  const build = () => toCorrectedUpload(upload, lines, groups)
  const save = async () => {
    const all = await readRejectedLines(upload, new Set(groups.flatMap(expandRanges)))
    for (const [number, line] of lines) all.set(number, line)
    const { file } = toCorrectedUpload(upload, all, groups)
    download(file.name, await file.text())
  }
  return html`<section aria-label=${t('Rejected lines of {name}', { name: upload.file.name })}>
    ${guard}
    <h2>Rejected lines</h2>
    <p class="lead">${isDryRun ? t('Fix the cells and check the lines again.') : t('Fix the cells and import the lines again.')}</p>
    ${groups.map(
      (group, i) => html`<details key=${`${group.column} ${group.reason}`} class="card" open=${i === 0}>
        <summary><b>${[group.column, group.reason].filter(Boolean).join(' ')}</b> <small>${countLines(group.lines)}</small></summary>
        <${Corrections} group=${group} lines=${lines} header=${header} isSecret=${isSecret} setCell=${setCell} />
      </details>`,
    )}
    ${hasMore && html`<p class="note">Showing the first 100 lines for each reason. The download has all of them. Fix them there or in your file, and import it again; lines already imported are skipped.</p>`}
    <p class="choices">
      <button class=${edits ? 'main' : ''} disabled=${lines.size === 0} onClick=${() => {
        setEdits(0)
        send(build())
      }}>${isDryRun ? plural(lines.size, 'Check {count} line again', 'Check {count} lines again') : plural(lines.size, 'Import {count} line again', 'Import {count} lines again')}</button>
      <button class="quiet" aria-label=${t('Download rejected lines of {name}', { name: upload.file.name })} onClick=${() => save().catch(setError)}>Download rejected lines</button>
    </p>
  </section>`
}

/** @param {number} lines */
const countLines = lines => plural(lines, '{count} line', '{count} lines')
