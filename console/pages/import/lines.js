/**
 * @typedef {{ isJson: boolean, delimiter: string, encoding: string }} Reading `delimiter`: one character; `encoding`: a label of the Encoding Standard
 * @typedef {{ number: number, text: string, cells: string[] }} Line `number` as the server counts: where it begins, the first one is 1
 */

/** The bytes of a file, unpacked where gzip has packed them. @param {Blob} file @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>} */
export async function readBytes(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
    ? file.stream().pipeThrough(new DecompressionStream('gzip'))
    : /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (file.stream())
}

/** Characters of a line that goes on over several: the server refuses a longer one too. */
const maxLineLength = 1024 * 1024

/**
 * The lines of a file with their cells, the header among them; a line goes on where its end is within quotation marks (RFC 4180).
 * @param {Blob} file
 * @param {Reading} reading
 * @returns {AsyncGenerator<Line>}
 */
export async function* readLines(file, { isJson, delimiter, encoding }) {
  let number = 0
  let begun = 1
  let open = ''
  for await (const physical of readPhysicalLines(await readBytes(file), encoding)) {
    number++
    if (!open) begun = number
    const text = open ? `${open}\n${physical}` : physical
    const mayGoOn = text.length < maxLineLength
    // Only a quotation mark can end what is open.
    if (open && mayGoOn && !physical.includes('"')) {
      open = text
      continue
    }
    open = ''
    if (isJson) {
      if (text) yield { number: begun, text, cells: [] }
      continue
    }
    const { cells, isOpen } = parseCells(text, delimiter)
    if (isOpen && mayGoOn) open = text
    else if (text) yield { number: begun, text, cells }
  }
  if (open) yield { number: begun, text: open, cells: parseCells(open, delimiter).cells }
}

/** Lines by their ends alone. @param {ReadableStream<Uint8Array<ArrayBuffer>>} bytes @param {string} encoding */
async function* readPhysicalLines(bytes, encoding) {
  const reader = bytes.pipeThrough(new TextDecoderStream(encoding)).getReader()
  try {
    let rest = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield line.replace(/\r$/, '')
    }
    if (rest) yield rest.replace(/\r$/, '')
  } finally {
    // Whoever has seen enough of a file does not read all of it.
    await reader.cancel()
  }
}

/** The cells of a line of CSV; `isOpen`: it ends within quotation marks. @param {string} text @param {string} delimiter */
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
