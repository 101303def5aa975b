import { declaration, type Element, el, writeDocument } from '../xml/element.ts'
import type { Fault, FaultKind } from './fault.ts'

type Distortion = (root: Element, fault?: Fault) => Element

const isList = (children: readonly Element[]) =>
  children.length > 1 && new Set(children.map(child => child.name)).size === 1

/** Changes an element and all elements below it, each when it is written. */
function changeAll(element: Element, change: (element: Element) => Element): Element {
  const { content } = element
  if (content === undefined || typeof content === 'string') return change(element)
  function* children() {
    for (const child of content as Iterable<Element | undefined>) if (child) yield changeAll(child, change)
  }
  return change({ ...element, content: { [Symbol.iterator]: children } })
}

/** Changes all elements below the root one by one, because all children might not fit into memory. */
const changeBelowRoot =
  (change: (element: Element) => Element): Distortion =>
  root => {
    const { content } = root
    if (content === undefined || typeof content === 'string') return root
    function* children() {
      for (const child of content as Iterable<Element | undefined>) if (child) yield changeAll(child, change)
    }
    return { ...root, content: children() }
  }

const reverseChildren = (element: Element): Element => {
  if (element.content === undefined || typeof element.content === 'string') return element
  const children = [...element.content].filter(child => child !== undefined)
  return isList(children) ? { ...element, content: children } : { ...element, content: children.reverse() }
}

function replaceRoot(root: Element, fault?: Fault): Element {
  if (fault?.root !== undefined) return { ...root, name: fault.root }
  if (root.attributes?.Type === 'Array' && root.content !== undefined && typeof root.content !== 'string')
    for (const child of root.content) if (child) return child
  return { ...root, name: 'Unexpected' }
}

const changeTexts = (change: (text: string) => string) =>
  changeBelowRoot(element =>
    typeof element.content === 'string' ? { ...element, content: change(element.content) } : element,
  )

const distortions: Partial<Record<FaultKind, Distortion>> = {
  'wrong-root': replaceRoot,
  reordered: root =>
    root.attributes?.Type === 'Array'
      ? changeBelowRoot(reverseChildren)(root)
      : reverseChildren(changeBelowRoot(reverseChildren)(root)),
  'extra-elements': changeBelowRoot(element =>
    element.content === undefined || typeof element.content === 'string'
      ? element
      : { ...element, content: [el('Xtra', [el('Sub', 'unknown')]), ...element.content, el('FutureElement', '1')] },
  ),
  'trailing-blanks': changeTexts(value => `${value}  `),
  'carriage-returns': changeTexts(value => `${value}\r\n`),
}

/** Applies the faults that change elements: their order, whitespace and root. */
export function distort(root: Element, faults: readonly Fault[]): Element {
  let element = root
  for (const fault of faults) element = distortions[fault.kind]?.(element, fault) ?? element
  return element
}

const entityBomb = `<!DOCTYPE bomb [
<!ENTITY a0 "ha"><!ENTITY file SYSTEM "file:///etc/passwd">
${Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('\n')}
]>`

/** Applies the faults that change the characters of a document. */
export function* garble(chunks: Iterable<string>, faults: readonly Fault[]): Generator<string> {
  const hasFault = (kind: FaultKind) => faults.some(fault => fault.kind === kind)
  let first = true
  for (const chunk of chunks) {
    let piece = chunk
    if (first) {
      if (hasFault('malformed')) piece = piece.replace(/(>|\s*\/>)$/, '><Broken></Borken>&')
      if (hasFault('dtd'))
        piece = piece.replace(declaration, `${declaration}${entityBomb}`).replace(/>$/, '>&a12;&file;')
      if (hasFault('no-declaration')) piece = piece.replace(declaration, '')
      if (hasFault('bom')) piece = `\uFEFF${piece}`
      first = false
    }
    yield piece
    while (hasFault('endless')) yield '<Store Name="Endless" StoreId="1" StoreNumber="1" FreeStock="1" />\n'.repeat(500)
  }
}

/** Writes a document with the faults of a request. */
export const writeFaultyDocument = (root: Element, faults: readonly Fault[]) =>
  garble(writeDocument(distort(root, faults)), faults)
