import { SaxesParser } from 'saxes'

/** An element as it was read. */
export interface Xml {
  name: string
  attributes: Readonly<Record<string, string>>
  /** Of the element itself, its children apart. */
  text: string
  children: Xml[]
}

/** An answer that is not the XML that was asked for. The message names no content. */
export class XmlFault extends Error {
  override name = 'XmlFault'
}

/** What an answer may have at its root, and which elements below are its records. */
export interface Expected {
  roots: readonly string[]
  /** The outermost elements of this name are records; the root may itself be one. Absent: none, the root has it all. */
  record?: string
}

/** Deeper than any answer of this system. */
const mostDepth = 32
/** Of one record: a style with all its stores has some thousand; the stock that changed in a store has one for each SKU. */
const mostElements = 250_000
/** Of a list, beside its records. */
const mostOutside = 10_000
/** Characters of one text, tag or comment. */
const mostCharacters = 4 * 1024 ** 2
const pieceBytes = 64 * 1024

interface Reader {
  /** Empty until the root is open. */
  readonly root: Xml | undefined
  write(text: string): void
  /** The records that have been completed. */
  take(): Xml[]
  end(): void
}

function makeReader({ roots, record }: Expected): Reader {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  const open: Xml[] = []
  let root: Xml | undefined
  let found: Xml[] = []
  let recordDepth = 0
  let elements = 0
  let outside = 0
  let tags = 0
  let silent = 0

  parser.on('error', () => {
    throw new XmlFault('The answer is not well-formed XML.')
  })
  parser.on('doctype', () => {
    throw new XmlFault('The answer declares a document type.')
  })
  parser.on('opentag', ({ name, attributes }) => {
    tags++
    const element: Xml = { name, attributes, text: '', children: [] }
    if (!root) {
      if (!roots.includes(name)) throw new XmlFault(`The answer's root is another one than ${roots.join(' or ')}.`)
      root = element
    }
    const begins = recordDepth === 0 && name === record
    const tooMany =
      record !== undefined && recordDepth === 0 && !begins ? ++outside > mostOutside : ++elements > mostElements
    if (tooMany) throw new XmlFault('The answer has too many elements in one place.')
    if (!begins) open.at(-1)?.children.push(element)
    if (open.push(element) > mostDepth) throw new XmlFault('The answer is nested too deeply.')
    if (begins) {
      recordDepth = open.length
      elements = 0
    }
  })
  const addText = (text: string) => {
    const element = open.at(-1)
    // The blanks between the records of a list would add up.
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
    found.push(element)
  })

  return {
    get root() {
      return root
    },
    write(text) {
      const before = tags
      parser.write(text)
      silent = tags === before ? silent + text.length : 0
      if (silent > mostCharacters) throw new XmlFault('A part of the answer is too long.')
    },
    take() {
      const taken = found
      found = []
      return taken
    },
    end() {
      if (!root) throw new XmlFault('The answer has no XML.')
      parser.close()
    },
  }
}

/** The text of a body in UTF-8, with or without a byte order mark, in pieces. */
async function* textOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (bytes?: Uint8Array) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
    } catch {
      throw new XmlFault('The answer is not UTF-8.')
    }
  }
  for await (const bytes of body)
    for (let at = 0; at < bytes.length; at += pieceBytes) yield decoded(bytes.subarray(at, at + pieceBytes))
  yield decoded()
}

/** A reference to a control character, which XML 1.0 does not have and .NET writes all the same (`&#x1F;`). */
const control = /&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));/gi
/** Longer than any reference that is written for a reason. */
const longestReference = 16

/** The same text with blanks for references to control characters, wherever its pieces end. */
async function* withoutControls(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let held = ''
  for await (const piece of pieces) {
    const text = held + piece
    const last = text.lastIndexOf('&')
    const isCut = last >= 0 && text.length - last < longestReference && !text.includes(';', last)
    held = isCut ? text.slice(last) : ''
    yield (isCut ? text.slice(0, last) : text).replace(control, ' ')
  }
  yield held
}

/** A list whose records are parsed while they arrive. */
interface Listing {
  /** The root without its records; undefined where the body is empty. */
  root: Xml | undefined
  /** To be walked to its end, or left by `return`. */
  records: AsyncGenerator<Xml>
}

/**
 * Opens a document as far as its root. Throws `XmlFault`, then or from `records`, where it is not well-formed, has another root, a
 * document type, or is larger than any answer: the records until then are whole.
 */
export async function readRecords(body: AsyncIterable<Uint8Array>, expected: Expected): Promise<Listing> {
  const reader = makeReader(expected)
  const pieces = withoutControls(textOf(body))
  let blank = true
  let ended = false
  try {
    while (!reader.root && !ended) {
      const { value = '', done = false } = await pieces.next()
      ended = done
      if (value.trim() !== '') blank = false
      if (!blank) reader.write(value)
    }
    if (ended && !blank) reader.end()
  } catch (error) {
    await pieces.return(undefined)
    throw error
  }
  return { root: reader.root, records: rest() }

  async function* rest(): AsyncGenerator<Xml> {
    try {
      yield* reader.take()
      if (ended) return
      for await (const piece of pieces) {
        reader.write(piece)
        yield* reader.take()
      }
      reader.end()
    } finally {
      await pieces.return(undefined)
    }
  }
}

/** A whole document as its root; undefined where the body is empty. */
export async function readDocument(
  body: AsyncIterable<Uint8Array>,
  roots: readonly string[],
): Promise<Xml | undefined> {
  const { root, records } = await readRecords(body, { roots })
  await records.next()
  return root
}
