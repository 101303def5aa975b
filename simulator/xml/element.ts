export type Attributes = Readonly<Record<string, string | number>>
export type Value = string | number | boolean | undefined
export type Children = Iterable<Element | undefined>

/** An element to write. Its children can come from a generator, so that a long list is never in memory. */
export interface Element {
  name: string
  attributes: Attributes | undefined
  content: string | Children | undefined
}

/** Creates an element: `el('Name', 'Jo')`, `el('Name')` if it is empty, `el('List', [...])`. Undefined children are left out. */
export function el(name: string, content?: Value | Children, attributes?: Attributes): Element {
  const plain = typeof content === 'number' || typeof content === 'boolean' ? String(content) : content
  return { name, attributes, content: plain === '' ? undefined : plain }
}

/** Creates an element for each entry: `fields({ Id: 1, Name: 'Jo' })`. */
export const fields = (values: Readonly<Record<string, Value>>): Element[] =>
  Object.entries(values).map(([name, value]) => el(name, value))

/** Creates a list, which Apparel21 marks with `Type="Array"`. */
export const array = (name: string, rows: Children, attributes?: Attributes): Element =>
  el(name, rows, { Type: 'Array', ...attributes })

const special: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#xD;' }
const escapeText = (text: string) => (/[&<>\r]/.test(text) ? text.replace(/[&<>\r]/g, c => special[c] ?? c) : text)
const escapeAttribute = (text: string) =>
  /[&<>"\r]/.test(text) ? text.replace(/[&<>"\r]/g, c => special[c] ?? c) : text

function writeOpening({ name, attributes }: Element): string {
  let text = `<${name}`
  for (const key in attributes) text += ` ${key}="${escapeAttribute(String(attributes[key]))}"`
  return text
}

function writeElement(element: Element): string {
  const { name, content } = element
  const start = writeOpening(element)
  if (content === undefined) return `${start} />`
  if (typeof content === 'string') return `${start}>${escapeText(content)}</${name}>`
  let inside = ''
  for (const child of content) if (child) inside += writeElement(child)
  return inside === '' ? `${start} />` : `${start}>${inside}</${name}>`
}

const namespaces = {
  'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
  'xmlns:xsd': 'http://www.w3.org/2001/XMLSchema',
}
export const declaration = '<?xml version="1.0" encoding="utf-8"?>'

/** Yields a document, one string for each child of the root. */
export function* writeDocument(root: Element): Generator<string> {
  const { name, content } = root
  const start = writeOpening({ ...root, attributes: { ...namespaces, ...root.attributes } })
  if (content === undefined || typeof content === 'string') {
    yield `${declaration}${start}${content === undefined ? ' />' : `>${escapeText(content)}</${name}>`}`
    return
  }
  let empty = true
  for (const child of content) {
    if (!child) continue
    if (empty) yield `${declaration}${start}>`
    empty = false
    yield writeElement(child)
  }
  yield empty ? `${declaration}${start} />` : `</${name}>`
}
