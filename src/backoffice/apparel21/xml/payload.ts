import { toApiError } from '../../../errors/api-error.ts'

/**
 * The content of an element.
 * - undefined omits the element.
 * - null or an empty string writes an empty element, which clears the field.
 * - a list is the children in the given order, which the Retail API requires. The element is omitted if all children are omitted.
 */
export type Content = string | number | boolean | null | undefined | Fields
export type Fields = readonly Field[]
export type Field = readonly [name: string, content: Content, attributes?: Readonly<Record<string, string>>]

/** Builds an XML payload. Throws 422 if a value has a character that XML can't represent. */
export const buildPayload = (root: string, fields: Fields): string =>
  `<?xml version="1.0" encoding="utf-8"?>${renderElement([root, fields]) || `<${root} />`}`

/** Returns the values in the order of a template. Throws if the template lacks a name. */
export function orderFields<Name extends string>(
  template: readonly Name[],
  values: Readonly<Partial<Record<Name, Content>>>,
): Field[] {
  for (const name of Object.keys(values))
    if (!(template as readonly string[]).includes(name)) throw new Error(`template lacks ${name}`)
  return template.flatMap((name): Field[] => (values[name] === undefined ? [] : [[name, values[name]]]))
}

function renderElement([name, content, attributes = {}]: Field): string {
  if (content === undefined) return ''
  let start = `<${name}`
  for (const [key, value] of Object.entries(attributes))
    start += ` ${key}="${escapeText(value).replaceAll('\n', '&#xA;')}"`
  if (content === null || content === '') return `${start} />`
  if (typeof content !== 'object') return `${start}>${escapeText(String(content))}</${name}>`
  const children = content.map(renderElement).join('')
  return children === '' ? '' : `${start}>${children}</${name}>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const forbiddenCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

function escapeText(text: string) {
  if (forbiddenCharacters.test(text) || !text.isWellFormed())
    throw toApiError([
      { code: 'invalid_field', detail: "A field has a character that the back office doesn't support." },
    ])
  // ASCII only, because the Retail API doesn't document the encoding that it assumes for `text/xml`.
  return text.replace(
    /[&<>"]|[^\x20-\x7e\n]/gu,
    character => entities[character] ?? `&#x${character.codePointAt(0)?.toString(16).toUpperCase()};`,
  )
}
