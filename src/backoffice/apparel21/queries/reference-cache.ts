import { memoize, ttlCache } from '../../../concurrency/ttl-cache.ts'
import type { ReferenceKey, SyncRows } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import {
  buildTypeNames,
  parseReference,
  parseReferenceType,
  type ReferenceType,
  readReferences,
} from '../mapping/references.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import { findElements, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

type Row = SyncRows['references']

/** The reference type of loyalty types and their codes. */
const loyaltyReferenceType = '366'

const valueRoots = ['ReferencesbyType', 'ReferencesByType']

/** Reference types and values of the back office, loaded on demand and only once. */
export interface ReferenceCache {
  /** Returns the names of all types of customers and products by identifier. */
  getNames(): Promise<ReadonlyMap<string, string>>
  /** Returns the names of `getNames`, and the names of other types that these records contain. */
  getNamesFor(records: readonly Xml[]): Promise<ReadonlyMap<string, string>>
  /** Returns all values of a type. */
  getValues(typeId: string): Promise<Row[]>
  /** Returns the rows of these values. A value that the back office doesn't have is omitted. */
  fetchRows(keys: readonly ReferenceKey[]): Promise<Row[]>
  getLoyaltyCodes(): Promise<ReadonlyMap<string, string>>
}

export function createReferenceCache(client: Client, signal: AbortSignal): ReferenceCache {
  const buildRequest = (...path: string[]) => ({ endpoint: 'references', path, version: 2, signal }) as const

  async function fetchTypes(list: string): Promise<ReferenceType[]> {
    const root = await client.document({ ...buildRequest(list), roots: [list] })
    return convertRecords(findElements(root, 'ReferenceTypes', 'Reference'), parseReferenceType).rows
  }
  const getNames = memoize(async () =>
    buildTypeNames([...(await fetchTypes('PersonReferenceTypes')), ...(await fetchTypes('ProductReferenceTypes'))]),
  )

  /** Loads the name of a type that is in neither list, and adds it to `names`. */
  async function addTypeName(typeId: string, names: Map<string, string>) {
    const root = await client.document({
      ...buildRequest('ReferenceTypes', typeId),
      roots: ['ReferenceTypes', 'ReferenceType'],
    })
    // A concurrent request may have added the name. It has been used, so it stays.
    if (names.has(typeId)) return
    const element = root?.name === 'ReferenceType' ? root : findElements(root, 'ReferenceType')[0]
    const type = { id: typeId, code: readText(element, 'Code'), name: readText(element, 'Name') }
    const name = buildTypeNames([type]).get(typeId) ?? typeId
    names.set(typeId, [...names.values()].includes(name) ? `${name}${typeId}` : name)
  }

  async function fetchValues(typeId: string, valueId?: string): Promise<Row[]> {
    const path = ['References', typeId, ...(valueId === undefined ? [] : [valueId])]
    const root = await client.document({ ...buildRequest(...path), size: 'page', roots: valueRoots })
    const name = (await getNames()).get(typeId)
    if (name === undefined) return []
    return convertRecords(findElements(root, 'References', 'Reference'), value => parseReference(value, name)).rows
  }
  const values = ttlCache({ load: (typeId: string) => fetchValues(typeId) })

  return {
    getNames,
    async getNamesFor(records) {
      const names = await getNames()
      for (const [typeId] of records.flatMap(readReferences)) if (!names.has(typeId)) await addTypeName(typeId, names)
      return names
    },
    getValues: typeId => values.get(typeId),
    async fetchRows(keys) {
      const typeIds = new Map([...(await getNames())].map(([id, name]) => [name, id]))
      const rows: Row[] = []
      for (const { type, value } of keys) {
        const typeId = typeIds.get(type)
        if (typeId === undefined) continue
        const isMatch = (reference: Row) => reference.referenceValueId === value
        // The list can omit values that are no longer in use.
        const row = (await values.get(typeId)).find(isMatch) ?? (await fetchValues(typeId, value)).find(isMatch)
        if (row) rows.push(row)
      }
      return rows
    },
    getLoyaltyCodes: memoize(async () => {
      const root = await client.document({ ...buildRequest('References', loyaltyReferenceType), roots: valueRoots })
      const codes = findElements(root, 'References', 'Reference')
      return new Map(codes.map(value => [readText(value, 'Id') ?? '', readText(value, 'Code') ?? '']))
    }),
  }
}
