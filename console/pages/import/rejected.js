import { useEffect, useState } from 'preact/hooks'
import { asItWas, withoutFormula } from 'tillbridge/formulas'
import { importTypes } from 'tillbridge/import-types'
import { download, toCsv } from '../../components/export.js'
import { Problem } from '../../components/problem.js'
import { html } from '../../lib/html.js'
import { Corrections } from './corrections.js'
import { parseRecord, toCellText } from './detect.js'
import { readLines } from './lines.js'
import { hasRejectionColumns, rejectionColumns } from './profile.js'

/** @typedef {import('./profile.js').Sent} Sent */
/** @typedef {import('./profile.js').Group} Group */

/** @typedef {import('./profile.js').Kept} Kept */

/** These lines of a file, by their numbers. @param {Sent} sent @param {Set<number>} numbers */
async function readRejectedLines({ file, plan: { reading }, header }, numbers) {
  /** @type {Map<number, Kept>} */
  const found = new Map()
  for await (const { number, text, cells } of readLines(file, reading)) {
    if (found.size === numbers.size) break
    // Letters that could not be read are lost here: such a line is mended where it comes from.
    if (!numbers.has(number) || text.includes('\ufffd')) continue
    const told = reading.isJson
      ? header.map(name => toCellText(parseRecord(text)[name]))
      : hasRejectionColumns(header)
        ? cells.map(asItWas)
        : cells
    found.set(number, { text, cells: told, isMended: false })
  }
  return found
}

/**
 * The lines as a file that is read by the same plan, each behind why it was rejected: so it is no whole list, which would take away what
 * it lacks (docs/reference/import-formats.md).
 * @param {Sent} tried @param {Map<number, Kept>} lines @param {Group[]} groups @returns {Sent}
 */
function toCorrectedUpload(tried, lines, groups) {
  const { file, plan, profile, header, isTrial } = tried
  const name = file.name.replace(/( \(mended\))?(\.[a-z]+)?(\.gz)?$/i, '')
  const why = buildRejectionCells(groups)
  // A trial has written nothing: what it found good is still to come.
  const mends = isTrial ? { mends: { sent: tried, numbers: new Set(lines.keys()) } } : {}
  const sent = { lines: lines.size, isTrial, ...mends }
  if (plan.reading.isJson) {
    const text = [...lines].map(([number, line]) => `${toCorrectedRecord(line, header, why(number))}\n`).join('')
    return { file: new File([text], `${name} (mended).ndjson`), plan, profile, header, ...sent }
  }
  const front = hasRejectionColumns(header) ? rejectionColumns.length : 0
  const own = header.slice(front)
  const rows = [...lines].map(([number, line]) => {
    const cells = line.cells.slice(front)
    // A cell that a line lacks is empty once somebody has seen that it is.
    return [...why(number), ...(line.isMended ? own.map((_, i) => cells[i] ?? '') : cells)]
  })
  const names = [...rejectionColumns, ...own]
  return {
    file: new File([toCsv([names, ...rows].map(cells => cells.map(withoutFormula)))], `${name} (mended).csv`),
    plan: Object.assign({}, plan, { reading: { isJson: false, delimiter: ',', encoding: 'utf-8' } }),
    profile: Object.assign({}, profile, { delimiter: ',', encoding: 'utf-8' }),
    header: names,
    ...sent,
  }
}

/** What stands in front of a line: its number, columns and reasons. @param {Group[]} groups */
function buildRejectionCells(groups) {
  /** @type {Map<number, Group[]>} */
  const of = new Map()
  for (const group of groups) for (const number of group.numbers) of.set(number, [...(of.get(number) ?? []), group])
  return (/** @type {number} */ number) => {
    const mine = of.get(number) ?? []
    return [
      String(number),
      mine.map(({ column }) => column).join('; '),
      mine.map(({ column, reason }) => (mine.length > 1 ? `${column} ${reason}`.trim() : reason)).join('; '),
    ]
  }
}

/**
 * A line of NDJSON with what was mended in it; what is not in it stays away, since an empty text would clear it.
 * @param {Kept} line @param {string[]} header @param {string[]} why
 */
function toCorrectedRecord({ text, cells, isMended }, header, why) {
  const record = parseRecord(text)
  const isMarked = hasRejectionColumns(Object.keys(record))
  if (isMended)
    for (const [i, name] of header.entries()) {
      const [before, now] = [record[name], cells[i] ?? '']
      if (toCellText(before) !== now) record[name] = before && typeof before === 'object' ? parseOrKeep(now) : now
    }
  // As it stands: a number that is read and written again may be another one.
  const told = isMended ? JSON.stringify(record) : text.trim()
  if (isMarked || !told.startsWith('{')) return told
  const front = JSON.stringify(Object.fromEntries(rejectionColumns.map((name, i) => [name, why[i]])))
  const rest = told.slice(1).trimStart()
  return `${front.slice(0, -1)}${rest.startsWith('}') ? '' : ','}${rest}`
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
 * Lines that were rejected, by their reasons, to be mended here and sent again.
 * @param {{ groups: Group[], sent: Sent, again: (sent: Sent) => void }} props
 */
export function RejectedLines({ groups, sent, again }) {
  const [lines, setLines] = useState(/** @type {Map<number, Kept> | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const [mended, setMended] = useState(0)
  const { plan, header, isTrial } = sent
  useEffect(() => {
    readRejectedLines(sent, new Set(groups.flatMap(({ numbers }) => numbers))).then(setLines, setError)
  }, [])
  if (error) return html`<${Problem} error=${error} />`
  if (!lines) return html`<p class="opening" role="status">Looking for the lines…</p>`

  const isSecret = (/** @type {string} */ name) =>
    importTypes[plan.type]?.columns.some(column => column.format === 'secret' && plan.from[column.name] === name) ??
    false
  /** @param {number} number @param {number} place @param {string} text */
  const put = (number, place, text) => {
    const line = lines.get(number)
    if (!line) return
    const cells = [...line.cells]
    cells[place] = text
    lines.set(number, { text: line.text, cells, isMended: true })
    setMended(before => before + 1)
  }
  const rest = groups.some(group => group.lines > group.numbers.length)
  const next = () => toCorrectedUpload(sent, lines, groups)
  const save = () => {
    const { file } = next()
    file.text().then(text => download(file.name, text))
  }
  return html`<section aria-label=${`Rejected lines of ${sent.file.name}`}>
    <h2>Rejected lines</h2>
    <p class="lead">Mend them here and ${isTrial ? 'try' : 'send'} them again. Those that are still wrong come back.</p>
    ${groups.map(
      (group, i) => html`<details key=${`${group.column} ${group.reason}`} class="card" open=${i === 0}>
        <summary><b>${[group.column, group.reason].filter(Boolean).join(' ')}</b> <small>${countLines(group.lines)}</small></summary>
        <${Corrections} group=${group} lines=${lines} header=${header} isSecret=${isSecret} put=${put} />
      </details>`,
    )}
    ${rest && html`<p class="note">Of each reason the first 100 lines are here. Mend the others in the file, and import it again: what is there already changes nothing.</p>`}
    <p class="choices">
      <button class=${mended ? 'main' : ''} disabled=${lines.size === 0} onClick=${() => again(next())}>${isTrial ? 'Try' : 'Send'} ${countLines(lines.size)} again</button>
      <button class="quiet" onClick=${save}>Save these lines</button>
    </p>
  </section>`
}

/** @param {number} lines */
const countLines = lines => `${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'}`
