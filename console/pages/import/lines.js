/**
 * `delimiter`: one character. `encoding`: a label of the Encoding Standard. `isGuessed`: the server checks the encoding by the words of the file.
 * @typedef {{ isJson: boolean, delimiter: string, encoding: string, isGuessed?: boolean }} FileFormat
 */
/** `number`: of its first physical line in the file, from 1, as the server counts. @typedef {{ number: number, text: string, cells: string[] }} Line */

/** Returns the bytes of a file, decompressed if they are gzip. @param {Blob} file @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>} */
export async function readBytes(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
    ? file.stream().pipeThrough(new DecompressionStream('gzip'))
    : /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (file.stream())
}

/** The maximum characters of a record that spans several physical lines, as on the server. */
const maxLineLength = 1024 * 1024

/**
 * Yields the lines of a file with their cells, including the header. A line break within quotation marks doesn't end a line (RFC 4180).
 * @param {Blob} file
 * @param {FileFormat} format
 * @returns {AsyncGenerator<Line>}
 */
export async function* readLines(file, { isJson, delimiter, encoding }) {
  let physicalNumber = 0
  let number = 1
  let open = ''
  for await (const physical of readPhysicalLines(await readBytes(file), encoding)) {
    physicalNumber++
    if (!open) number = physicalNumber
    const text = open ? `${open}\n${physical}` : physical
    const canContinue = text.length < maxLineLength
    // Only a quotation mark can end an open cell.
    if (open && canContinue && !physical.includes('"')) {
      open = text
      continue
    }
    open = ''
    if (isJson) {
      if (text) yield { number, text, cells: [] }
      continue
    }
    const { cells, isOpen } = parseCells(text, delimiter)
    if (isOpen && canContinue) open = text
    else if (text) yield { number, text, cells }
  }
  if (open) yield { number, text: open, cells: parseCells(open, delimiter).cells }
}

/** @param {ReadableStream<Uint8Array<ArrayBuffer>>} bytes @param {string} encoding */
async function* readPhysicalLines(bytes, encoding) {
  const reader = bytes.pipeThrough(new TextDecoderStream(encoding)).getReader()
  try {
    let incomplete = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const lines = (incomplete + value).split('\n')
      incomplete = lines.pop() ?? ''
      for (const line of lines) yield line.replace(/\r$/, '')
    }
    if (incomplete) yield incomplete.replace(/\r$/, '')
  } finally {
    // Stops reading the file if the caller has read enough lines.
    await reader.cancel()
  }
}

/** Parses a line of CSV. `isOpen`: the line ends within quotation marks. @param {string} text @param {string} delimiter */
function parseCells(text, delimiter) {
  if (!text.includes('"')) return { cells: text.split(delimiter), isOpen: false }
  const cells = []
  for (let at = 0; ; ) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; ; at += 2) {
        const quote = text.indexOf('"', at)
        if (quote < 0) return { cells, isOpen: true }
        cell += text.slice(at, quote)
        at = quote
        if (text[quote + 1] !== '"') break
        cell += '"'
      }
      at++
    }
    const end = text.indexOf(delimiter, at)
    cells.push(cell + text.slice(at, end < 0 ? undefined : end))
    if (end < 0) return { cells, isOpen: false }
    at = end + 1
  }
}
