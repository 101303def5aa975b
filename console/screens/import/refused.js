import { useEffect, useState } from 'preact/hooks'
import { kinds } from 'tillbridge/kinds'
import { html } from '../../ground/html.js'
import { download } from '../../parts/export.js'
import { Problem } from '../../parts/problem.js'
import { cellText, recordIn } from './guess.js'
import { csvOfCells, linesOf } from './lines.js'
import { Mending } from './mending.js'

/** @typedef {import('./profile.js').Sent} Sent */
/** @typedef {import('./profile.js').Group} Group */

/** @typedef {import('./profile.js').Kept} Kept */

/** These lines of a file, by their numbers. @param {Sent} sent @param {Set<number>} numbers */
async function keptOf({ file, plan: { reading }, header }, numbers) {
  /** @type {Map<number, Kept>} */
  const found = new Map()
  for await (const { number, text, cells } of linesOf(file, reading)) {
    if (!numbers.has(number)) continue
    const told = reading.isJson ? header.map(name => cellText(recordIn(text)[name])) : cells
    found.set(number, { text, cells: told, isMended: false })
    if (found.size === numbers.size) break
  }
  return found
}

/** The lines as a file that is read by the same plan. @param {Sent} sent @param {Kept[]} lines @returns {Sent} */
function fileOf({ file, plan, profile, header, isTrial }, lines) {
  const name = file.name.replace(/( \(mended\))?(\.[a-z]+)?(\.gz)?$/i, '')
  const sent = { header, lines: lines.length, isTrial }
  if (plan.reading.isJson) {
    const text = lines.map(line => `${recordOf(line, header)}\n`).join('')
    return { file: new File([text], `${name} (mended).ndjson`), plan, profile, ...sent }
  }
  // A cell that a line lacks is empty once somebody has seen that it is.
  const cells = lines.map(line => (line.isMended ? header.map((_, i) => line.cells[i] ?? '') : line.cells))
  return {
    file: new File([csvOfCells([header, ...cells])], `${name} (mended).csv`),
    plan: Object.assign({}, plan, { reading: { isJson: false, delimiter: ',', encoding: 'utf-8' } }),
    profile: Object.assign({}, profile, { delimiter: ',', encoding: 'utf-8' }),
    ...sent,
  }
}

/** A line of NDJSON with what was mended in it; what is not in it stays away, since an empty text would clear it. @param {Kept} line @param {string[]} header */
function recordOf({ text, cells, isMended }, header) {
  if (!isMended) return text
  const record = recordIn(text)
  for (const [i, name] of header.entries()) {
    const [before, now] = [record[name], cells[i] ?? '']
    if (cellText(before) !== now) record[name] = before && typeof before === 'object' ? parsed(now) : now
  }
  return JSON.stringify(record)
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * Lines that were refused, by their reasons, to be mended here and sent again.
 * @param {{ groups: Group[], sent: Sent, again: (sent: Sent) => void }} props
 */
export function Refused({ groups, sent, again }) {
  const [lines, setLines] = useState(/** @type {Map<number, Kept> | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const [mended, setMended] = useState(0)
  const { plan, header, isTrial } = sent
  useEffect(() => {
    keptOf(sent, new Set(groups.flatMap(({ numbers }) => numbers))).then(setLines, setError)
  }, [])
  if (error) return html`<${Problem} error=${error} />`
  if (!lines) return html`<p class="opening" role="status">Looking for the lines…</p>`

  const isSecret = (/** @type {string} */ name) =>
    kinds[plan.kind]?.columns.some(column => column.format === 'secret' && plan.from[column.name] === name) ?? false
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
  const next = fileOf(sent, [...lines.values()])
  return html`<section aria-label="Refused lines">
    <h2>Refused lines</h2>
    <p class="lead">Mend them here and ${isTrial ? 'try' : 'send'} them again. Those that are still wrong come back.</p>
    ${groups.map(
      (group, i) => html`<details key=${`${group.column} ${group.reason}`} class="card" open=${i === 0}>
        <summary><b>${[group.column, group.reason].filter(Boolean).join(' ')}</b> <small>${count(group.lines)}</small></summary>
        <${Mending} group=${group} lines=${lines} header=${header} isSecret=${isSecret} put=${put} />
      </details>`,
    )}
    ${rest && html`<p class="note">Of each reason the first 100 lines are here. Once they are in, send the file again for the others: what is there already changes nothing.</p>`}
    <p class="choices">
      <button class=${mended ? 'main' : ''} disabled=${lines.size === 0} onClick=${() => again(next)}>${isTrial ? 'Try' : 'Send'} ${count(lines.size)} again</button>
      <button class="quiet" onClick=${() => next.file.text().then(text => download(next.file.name, text))}>Save these lines</button>
    </p>
  </section>`
}

/** @param {number} lines */
const count = lines => `${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'}`
