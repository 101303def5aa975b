import { SaxesParser } from 'saxes'

/** A parsed element. */
export interface Xml {
  name: string
  attributes: Readonly<Record<string, string>>
  /** The text of the element without its children. */
  text: string
  children: Xml[]
}

/** Thrown for a response that isn't the expected XML. The message contains no data of the response. */
export class XmlError extends Error {
  override name = 'XmlError'
}

/** The permitted root elements of a response, and the name of its records. */
export interface ExpectedDocument {
  roots: readonly string[]
  /** The outermost elements of this name are records. The root can be a record. If undefined, the root contains everything. */
  record?: string
}

/** Deeper than any response of the Retail API. */
const maxDepth = 32
/** Elements per record: a style with all its stores has a few thousand, and the changed stock of a store has one per SKU. */
const maxElements = 250_000
/** Elements of a list outside its records. */
const maxElementsOutsideRecords = 10_000
/** Characters of one text node, tag or comment. */
const maxCharacters = 4 * 1024 ** 2
const chunkBytes = 64 * 1024

interface Reader {
  /** Undefined until the root has been opened. */
  readonly root: Xml | undefined
  write(text: string): void
  /** Returns the records that have been completed since the last call. */
  takeRecords(): Xml[]
  end(): void
}

function createReader({ roots, record }: ExpectedDocument): Reader {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  const open: Xml[] = []
  let root: Xml | undefined
  let completed: Xml[] = []
  let recordDepth = 0
  let elements = 0
  let elementsOutside = 0
  let tags = 0
  let charactersSinceTag = 0

  parser.on('error', () => {
    throw new XmlError('The response is not well-formed XML.')
  })
  parser.on('doctype', () => {
    throw new XmlError('The response declares a document type.')
  })
  parser.on('opentag', ({ name, attributes }) => {
    tags++
    const element: Xml = { name, attributes, text: '', children: [] }
    if (!root) {
      if (!roots.includes(name)) throw new XmlError(`The root of the response must be ${roots.join(' or ')}.`)
      root = element
    }
    const isRecord = recordDepth === 0 && name === record
    const tooMany =
      record !== undefined && recordDepth === 0 && !isRecord
        ? ++elementsOutside > maxElementsOutsideRecords
        : ++elements > maxElements
    if (tooMany) throw new XmlError('A part of the response has too many elements.')
    if (!isRecord) open.at(-1)?.children.push(element)
    if (open.push(element) > maxDepth) throw new XmlError('The response is nested too deeply.')
    if (isRecord) {
      recordDepth = open.length
      elements = 0
    }
  })
  const addText = (text: string) => {
    const element = open.at(-1)
    // Ignored, because the whitespace between the records of a list would accumulate in the root.
    if (!element || (record !== undefined && recordDepth === 0 && text.trim() === '')) return
    element.text += text
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    tags++
    const element = open.pop()
    if (!element || open.length + 1 !== recordDepth) return
    recordDepth = 0
    completed.push(element)
  })

  return {
    get root() {
      return root
    },
    write(text) {
      const before = tags
      parser.write(text)
      charactersSinceTag = tags === before ? charactersSinceTag + text.length : 0
      if (charactersSinceTag > maxCharacters) throw new XmlError('A part of the response is too long.')
    },
    takeRecords() {
      const records = completed
      completed = []
      return records
    },
    end() {
      if (!root) throw new XmlError('The response has no XML.')
      parser.close()
    },
  }
}

/** Decodes a UTF-8 body, with or without a byte order mark, in chunks. Throws `XmlError` if it isn't UTF-8. */
async function* decodeText(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (bytes?: Uint8Array) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
    } catch {
      throw new XmlError('The response is not UTF-8.')
    }
  }
  for await (const bytes of body)
    for (let start = 0; start < bytes.length; start += chunkBytes)
      yield decode(bytes.subarray(start, start + chunkBytes))
  yield decode()
}

/** A reference to a control character, such as `&#x1F;`. XML 1.0 forbids these references, but .NET writes them. */
const controlReference = /&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));/gi
/** Longer than any valid reference. */
const maxReferenceLength = 16

/** Replaces references to control characters by spaces, even if a reference is split between two chunks. */
async function* removeControlReferences(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pending = ''
  for await (const chunk of chunks) {
    const text = pending + chunk
    const last = text.lastIndexOf('&')
    const isCut = last >= 0 && text.length - last < maxReferenceLength && !text.includes(';', last)
    pending = isCut ? text.slice(last) : ''
    yield (isCut ? text.slice(0, last) : text).replace(controlReference, ' ')
  }
  yield pending
}

/** The records of a list, parsed while they arrive. */
export interface RecordList {
  /** The root without its records. Undefined if the body is empty. */
  root: Xml | undefined
  /** Must be iterated to the end, or closed with `return`, to release the response. */
  records: AsyncGenerator<Xml, void>
}

/**
 * Parses a document as far as its root. Throws `XmlError`, now or from `records`, if the document is not well-formed, has an
 * unexpected root, declares a document type, or exceeds a limit. Records that were yielded before the error are complete.
 */
export async function readRecords(body: AsyncIterable<Uint8Array>, expected: ExpectedDocument): Promise<RecordList> {
  const reader = createReader(expected)
  const chunks = removeControlReferences(decodeText(body))
  let isBlank = true
  let hasEnded = false
  try {
    while (!reader.root && !hasEnded) {
      const { value = '', done = false } = await chunks.next()
      hasEnded = done
      if (value.trim() !== '') isBlank = false
      if (!isBlank) reader.write(value)
    }
    if (hasEnded && !isBlank) reader.end()
  } catch (error) {
    await chunks.return(undefined)
    throw error
  }
  return { root: reader.root, records: yieldRecords() }

  async function* yieldRecords(): AsyncGenerator<Xml, void> {
    try {
      yield* reader.takeRecords()
      if (hasEnded) return
      for await (const chunk of chunks) {
        reader.write(chunk)
        yield* reader.takeRecords()
      }
      reader.end()
    } finally {
      await chunks.return(undefined)
    }
  }
}

/** Parses a complete document and returns its root. Returns undefined if the body is empty. Throws `XmlError` as `readRecords` does. */
export async function readDocument(
  body: AsyncIterable<Uint8Array>,
  roots: readonly string[],
): Promise<Xml | undefined> {
  const { root, records } = await readRecords(body, { roots })
  await records.next()
  return root
}
