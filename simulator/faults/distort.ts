import { declaration, document, type Element, el } from '../xml/element.ts'
import type { Fault, FaultKind } from './fault.ts'

type Distortion = (root: Element, fault?: Fault) => Element

const isList = (children: readonly Element[]) =>
  children.length > 1 && new Set(children.map(child => child.name)).size === 1

/** Applies the same change to each element below the root while it is written. */
function throughout(element: Element, change: (element: Element) => Element): Element {
  const { content } = element
  if (content === undefined || typeof content === 'string') return change(element)
  function* children() {
    for (const child of content as Iterable<Element | undefined>) if (child) yield throughout(child, change)
  }
  return change({ ...element, content: { [Symbol.iterator]: children } })
}

/** Does not change the root, because its children may not fit into memory. */
const below =
  (change: (element: Element) => Element): Distortion =>
  root => {
    const { content } = root
    if (content === undefined || typeof content === 'string') return root
    function* children() {
      for (const child of content as Iterable<Element | undefined>) if (child) yield throughout(child, change)
    }
    return { ...root, content: children() }
  }

const reversed = (element: Element): Element => {
  if (element.content === undefined || typeof element.content === 'string') return element
  const children = [...element.content].filter(child => child !== undefined)
  return isList(children) ? { ...element, content: children } : { ...element, content: children.reverse() }
}

function wrongRoot(root: Element, fault?: Fault): Element {
  if (fault?.root !== undefined) return { ...root, name: fault.root }
  if (root.attributes?.Type === 'Array' && root.content !== undefined && typeof root.content !== 'string')
    for (const child of root.content) if (child) return child
  return { ...root, name: 'Unexpected' }
}

const text = (change: (text: string) => string) =>
  below(element => (typeof element.content === 'string' ? { ...element, content: change(element.content) } : element))

const distortions: Partial<Record<FaultKind, Distortion>> = {
  'wrong-root': wrongRoot,
  reordered: root => (root.attributes?.Type === 'Array' ? below(reversed)(root) : reversed(below(reversed)(root))),
  'extra-elements': below(element =>
    element.content === undefined || typeof element.content === 'string'
      ? element
      : { ...element, content: [el('Xtra', [el('Sub', 'unknown')]), ...element.content, el('FutureElement', '1')] },
  ),
  'trailing-blanks': text(value => `${value}  `),
  'carriage-returns': text(value => `${value}\r\n`),
}

/** A document with the faults of its element: order, blanks, roots. */
export function distorted(root: Element, faults: readonly Fault[]): Element {
  let element = root
  for (const fault of faults) element = distortions[fault.kind]?.(element, fault) ?? element
  return element
}

const exploding = `<!DOCTYPE bomb [
<!ENTITY a0 "ha"><!ENTITY file SYSTEM "file:///etc/passwd">
${Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('\n')}
]>`

/** Faults in the characters of a document. */
export function* garbled(chunks: Iterable<string>, faults: readonly Fault[]): Generator<string> {
  const is = (kind: FaultKind) => faults.some(fault => fault.kind === kind)
  let first = true
  for (const chunk of chunks) {
    let piece = chunk
    if (first) {
      if (is('malformed')) piece = piece.replace(/(>|\s*\/>)$/, '><Broken></Borken>&')
      if (is('dtd')) piece = piece.replace(declaration, `${declaration}${exploding}`).replace(/>$/, '>&a12;&file;')
      if (is('no-declaration')) piece = piece.replace(declaration, '')
      if (is('bom')) piece = `\uFEFF${piece}`
      first = false
    }
    yield piece
    while (is('endless')) yield '<Store Name="Endless" StoreId="1" StoreNumber="1" FreeStock="1" />\n'.repeat(500)
  }
}

/** A document as the faults of a request leave it. */
export const documentWith = (root: Element, faults: readonly Fault[]) =>
  garbled(document(distorted(root, faults)), faults)
