import { useState } from 'preact/hooks'
import { formatSize } from '../../components/format.js'
import { html } from '../../lib/html.js'
import { rich, t } from '../../lib/text.js'

/** The maximum size of an upload. */
const maxBytes = 256 * 1024 * 1024

/** Accepts a dropped or chosen file. @param {{ file: File | undefined, choose: (file: File) => void }} props `file`: the current one */
export function FilePicker({ file, choose }) {
  const [isOver, setIsOver] = useState(false)
  const [error, setError] = useState('')
  /** @param {FileList | null | undefined} files */
  const handleFiles = files => {
    const [first, ...further] = files ?? []
    if (!first) return
    const message = further.length
      ? t('Choose one file at a time.')
      : first.size > maxBytes
        ? t('{name} has {size}; at most 256 MB can be uploaded. Compress it with gzip, or use tillbridge import.', {
            name: first.name,
            size: formatSize(first.size),
          })
        : ''
    setError(message)
    if (!message) choose(first)
  }
  /** @param {boolean} isDragOver @returns {(event: DragEvent) => void} */
  const handleDrag = isDragOver => event => {
    event.preventDefault()
    setIsOver(isDragOver)
  }
  return html`<div
      class=${`drop ${isOver ? 'over' : ''} ${file ? 'chosen' : ''}`}
      onDragOver=${handleDrag(true)}
      onDragLeave=${handleDrag(false)}
      onDrop=${(/** @type {DragEvent} */ event) => {
        handleDrag(false)(event)
        handleFiles(event.dataTransfer?.files)
      }}
    >
      <p>${file ? html`<b>${file.name}</b> <small>${formatSize(file.size)}</small>` : rich('<b>Drop a file here</b>, .csv or .ndjson, optionally gzipped')}</p>
      <label class="button">
        <span>${file ? t('Choose another file') : t('Choose a file')}</span>
        <input
          type="file"
          accept=".csv,.txt,.tsv,.ndjson,.jsonl,.gz"
          onChange=${(/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) => {
            handleFiles(currentTarget.files)
            // Allows choosing the same file again after it was corrected.
            currentTarget.value = ''
          }}
        />
      </label>
    </div>
    ${error && html`<p class="problem" role="alert">${error}</p>`}`
}
