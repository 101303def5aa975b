import type { SyncRows } from '../../../domain/sync/port.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** A type of reference, as `PersonReferenceTypes` and its like have it. */
export interface ReferenceType {
  id: string
  code: string | null
  name: string | null
}

export const parseReferenceType = (type: Xml): ReferenceType => {
  const id = readText(type, 'ReferenceTypeId') ?? readText(type, 'Id')
  if (!id) throw new InvalidRecord('A type of reference has no identifier.')
  return { id, code: readText(type, 'Code'), name: readText(type, 'Name') }
}

/** A value of a reference, by the name that its type goes by here. */
export function parseReference(reference: Xml, type: string): SyncRows['references'] {
  const referenceValueId = readText(reference, 'Id')
  if (!referenceValueId) throw new InvalidRecord('A reference has no Id.')
  const code = readText(reference, 'Code')
  return { type, referenceValueId, code, name: readText(reference, 'Name') ?? code ?? referenceValueId }
}

/**
 * The names that types go by here: theirs in camelCase, `Favourite Store` as `favouriteStore`. Of several with one name the one with the
 * lowest identifier has it; the others carry their identifier behind it.
 */
export function buildTypeNames(types: readonly ReferenceType[]): Map<string, string> {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const inOrder = [...types].sort((a, b) => Number(a.id) - Number(b.id) || (a.id < b.id ? -1 : 1))
  for (const { id, code, name } of inOrder) {
    if (names.has(id)) continue
    const plain = toCamelCase(name ?? '') ?? toCamelCase(code ?? '') ?? 'reference'
    const own = taken.has(plain) || plain === 'reference' ? `${plain}${id}` : plain
    taken.add(own)
    names.set(id, own)
  }
  return names
}

/** A name of words in camelCase; undefined where it has no Latin letter to begin with. */
export function toCamelCase(name: string): string | undefined {
  const words = name
    .normalize('NFD')
    .replaceAll(/[\p{M}'’]/gu, '')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter(word => word !== '')
    .map(word => word.toLowerCase())
  const joined = words.map((word, i) => (i ? word.charAt(0).toUpperCase() + word.slice(1) : word)).join('')
  return /^[a-z]/.test(joined) ? joined.slice(0, 50) : undefined
}

/** The references that a record carries: value by type, both as this system numbers them. Types without a value are left out. */
export const readReferences = (record: Xml): [typeId: string, valueId: string][] =>
  findElements(record, 'References', 'Reference').flatMap((reference): [string, string][] => {
    const [type, value] = [readText(reference, 'ReferenceTypeId'), readText(reference, 'Id')]
    return type && value && value !== '0' ? [[type, value]] : []
  })

/** The same by the names of the types; a type without a name is refused, since its value would go unseen. */
export function readReferenceValues(record: Xml, names: ReadonlyMap<string, string>): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [typeId, value] of readReferences(record)) {
    const name = names.get(typeId)
    if (name === undefined) throw new InvalidRecord(`A record has a reference of type ${typeId}, which is not known.`)
    values[name] = value
  }
  return values
}
