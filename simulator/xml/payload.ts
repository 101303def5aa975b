import { SaxesParser } from 'saxes'

/** A posted element. */
export interface Payload {
  name: string
  attributes: Readonly<Record<string, string>>
  /** The text without surrounding whitespace. */
  text: string
  children: Payload[]
}

/** Parses a posted document. Throws if it is not well-formed. */
export function readPayload(text: string): Payload {
  const document: Payload = { name: '', attributes: {}, text: '', children: [] }
  const open = [document]
  const parser = new SaxesParser()
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', tag => {
    const element: Payload = { name: tag.name, attributes: { ...tag.attributes }, text: '', children: [] }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  const add = (more: string) => {
    const element = open.at(-1)
    if (element) element.text += more
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', () => {
    const element = open.pop()
    if (element) element.text = element.text.trim()
  })
  parser.write(text).close()
  const [root] = document.children
  if (!root) throw new Error('no root element')
  return root
}

/** Returns the element at a path below another, or undefined. */
export function findElement(payload: Payload | undefined, ...path: string[]): Payload | undefined {
  let element = payload
  for (const name of path) element = element?.children.find(child => child.name === name)
  return element
}

/** Returns the text at a path: undefined if the element is absent, empty if it is empty. */
export const findText = (payload: Payload | undefined, ...path: string[]): string | undefined =>
  findElement(payload, ...path)?.text

/** Returns all children with this name. */
export const findElements = (payload: Payload | undefined, name: string): Payload[] =>
  payload?.children.filter(child => child.name === name) ?? []
