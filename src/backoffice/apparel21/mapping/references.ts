import type { SyncRows } from '../../../domain/sync/port.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** A reference type, for example of `PersonReferenceTypes`. */
export interface ReferenceType {
  id: string
  code: string | null
  name: string | null
}

export const parseReferenceType = (type: Xml): ReferenceType => {
  const id = readText(type, 'ReferenceTypeId') ?? readText(type, 'Id')
  if (!id) throw new InvalidRecord('A reference type has no identifier.')
  return { id, code: readText(type, 'Code'), name: readText(type, 'Name') }
}

/** Parses a reference value. `type` is the API's name of its type. */
export function parseReference(reference: Xml, type: string): SyncRows['references'] {
  const referenceValueId = readText(reference, 'Id')
  if (!referenceValueId) throw new InvalidRecord('A reference has no Id.')
  const code = readText(reference, 'Code')
  return { type, referenceValueId, code, name: readText(reference, 'Name') ?? code ?? referenceValueId }
}

/**
 * Builds the API's names of reference types by identifier, in camelCase: `Favourite Store` becomes `favouriteStore`. If several types
 * have the same name, the type with the lowest identifier gets it; the others get their identifier as a suffix.
 */
export function buildTypeNames(types: readonly ReferenceType[]): Map<string, string> {
  const names = new Map<string, string>()
  const usedNames = new Set<string>()
  const inOrder = [...types].sort((a, b) => Number(a.id) - Number(b.id) || (a.id < b.id ? -1 : 1))
  for (const { id, code, name } of inOrder) {
    if (names.has(id)) continue
    const plain = toCamelCase(name ?? '') ?? toCamelCase(code ?? '') ?? 'reference'
    const unique = usedNames.has(plain) || plain === 'reference' ? `${plain}${id}` : plain
    usedNames.add(unique)
    names.set(id, unique)
  }
  return names
}

/** Converts words to camelCase. Returns undefined if the result doesn't start with a Latin letter. */
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

/** Reads a record's references as pairs of type and value identifiers. Types without a value are omitted. */
export const readReferences = (record: Xml): [typeId: string, valueId: string][] =>
  findElements(record, 'References', 'Reference').flatMap((reference): [string, string][] => {
    const [type, value] = [readText(reference, 'ReferenceTypeId'), readText(reference, 'Id')]
    return type && value && value !== '0' ? [[type, value]] : []
  })

/** Reads a record's references by type name. Throws `InvalidRecord` if a type has no name, because its value would be lost. */
export function readReferenceValues(record: Xml, names: ReadonlyMap<string, string>): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [typeId, value] of readReferences(record)) {
    const name = names.get(typeId)
    if (name === undefined)
      throw new InvalidRecord(`A record has a reference of type ${typeId}, which the back office does not list.`)
    values[name] = value
  }
  return values
}
