import { useState } from 'preact/hooks'
import { html } from '../../lib/html.js'

/** So many bytes are taken at once. */
const maxBytes = 256 * 1024 * 1024

/** @param {number} bytes */
const formatSize = bytes => {
  if (bytes < 1_024) return `${bytes} bytes`
  const units = bytes < 1_024 ** 2 ? /** @type {const} */ (['KB', 1_024]) : /** @type {const} */ (['MB', 1_024 ** 2])
  return `${(bytes / units[1]).toFixed(1)} ${units[0]}`
}

/** Where a file is dropped, or chosen. @param {{ file: File | undefined, take: (file: File) => void }} props */
export function FilePicker({ file, take }) {
  const [isOver, setIsOver] = useState(false)
  const [fault, setFault] = useState('')
  /** @param {FileList | null | undefined} files */
  const chosen = files => {
    const [first, ...more] = files ?? []
    if (!first) return
    const wrong = more.length
      ? 'One file at a time, please.'
      : first.size > maxBytes
        ? `${first.name} has ${formatSize(first.size)}: 256 MB are taken at once. Pack it with gzip, or use tillbridge import.`
        : ''
    setFault(wrong)
    if (!wrong) take(first)
  }
  /** @param {boolean} over @returns {(event: DragEvent) => void} */
  const drag = over => event => {
    event.preventDefault()
    setIsOver(over)
  }
  return html`<div
      class=${`drop ${isOver ? 'over' : ''} ${file ? 'taken' : ''}`}
      onDragOver=${drag(true)}
      onDragLeave=${drag(false)}
      onDrop=${(/** @type {DragEvent} */ event) => {
        drag(false)(event)
        chosen(event.dataTransfer?.files)
      }}
    >
      <p>${file ? html`<b>${file.name}</b> <small>${formatSize(file.size)}</small>` : html`<b>Drop a file here</b>, .csv or .ndjson, packed with gzip or not`}</p>
      <label class="button">
        <span>${file ? 'Choose another file' : 'Choose a file'}</span>
        <input
          type="file"
          accept=".csv,.txt,.tsv,.ndjson,.jsonl,.gz"
          onChange=${(/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) => {
            chosen(currentTarget.files)
            // The same one may be chosen again, once it was mended.
            currentTarget.value = ''
          }}
        />
      </label>
    </div>
    ${fault && html`<p class="problem" role="alert">${fault}</p>`}`
}
