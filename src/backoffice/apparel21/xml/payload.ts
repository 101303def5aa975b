import { toApiError } from '../../../errors/api-error.ts'

/**
 * What an element holds. Undefined: the element is left out. Null or empty text: it is empty, which clears the field. A list: its
 * children in this order, which this system minds; without any that is left in, the element is left out too.
 */
export type Content = string | number | boolean | null | undefined | Fields
export type Fields = readonly Field[]
export type Field = readonly [name: string, content: Content, attributes?: Readonly<Record<string, string>>]

/** A payload. Throws 422 where a text has a character that XML does not have. */
export const payload = (root: string, fields: Fields): string =>
  `<?xml version="1.0" encoding="utf-8"?>${element([root, fields]) || `<${root} />`}`

/** Values in the order of a template; throws where the template does not have a name. */
export function inOrder<Name extends string>(
  template: readonly Name[],
  values: Readonly<Partial<Record<Name, Content>>>,
): Field[] {
  for (const name of Object.keys(values))
    if (!(template as readonly string[]).includes(name)) throw new Error(`The template has no ${name}.`)
  return template.flatMap((name): Field[] => (values[name] === undefined ? [] : [[name, values[name]]]))
}

function element([name, content, attributes = {}]: Field): string {
  if (content === undefined) return ''
  let start = `<${name}`
  for (const [key, value] of Object.entries(attributes))
    start += ` ${key}="${escaped(value).replaceAll('\n', '&#xA;')}"`
  if (content === null || content === '') return `${start} />`
  if (typeof content !== 'object') return `${start}>${escaped(String(content))}</${name}>`
  const inside = content.map(element).join('')
  return inside === '' ? '' : `${start}>${inside}</${name}>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

function escaped(text: string) {
  if (forbidden.test(text) || !text.isWellFormed())
    throw toApiError([
      { code: 'invalid_field', detail: "A field has a character that the back office doesn't support." },
    ])
  // Nothing but ASCII, since nobody says which encoding the other side takes `text/xml` for.
  return text.replace(
    /[&<>"]|[^\x20-\x7e\n]/gu,
    character => entities[character] ?? `&#x${character.codePointAt(0)?.toString(16).toUpperCase()};`,
  )
}
