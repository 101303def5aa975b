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

/** The types of loyalty, and their codes, are references of this type. */
const loyaltyReferenceType = '366'

const valueRoots = ['ReferencesbyType', 'ReferencesByType']

/** What is known of references, asked for when it is needed, and once. */
export interface ReferenceCache {
  /** The names of all types that customers and products carry. */
  getNames(): Promise<ReadonlyMap<string, string>>
  /** The same, with types that these records carry beyond that. */
  getNamesFor(records: readonly Xml[]): Promise<ReadonlyMap<string, string>>
  /** All values of a type. */
  getValues(typeId: string): Promise<Row[]>
  /** Rows for values that the cache does not have. One that this system does not know either is left out. */
  fetchRows(keys: readonly ReferenceKey[]): Promise<Row[]>
  getLoyaltyCodes(): Promise<ReadonlyMap<string, string>>
}

export function createReferenceCache(client: Client, signal: AbortSignal): ReferenceCache {
  const asking = (...path: string[]) => ({ endpoint: 'references', path, version: 2, signal }) as const

  async function typesOf(list: string): Promise<ReferenceType[]> {
    const root = await client.document({ ...asking(list), roots: [list] })
    return convertRecords(findElements(root, 'ReferenceTypes', 'Reference'), parseReferenceType).rows
  }
  const names = memoize(async () =>
    buildTypeNames([...(await typesOf('PersonReferenceTypes')), ...(await typesOf('ProductReferenceTypes'))]),
  )

  /** The name of a type that is in neither list. */
  async function learn(typeId: string, into: Map<string, string>) {
    const root = await client.document({
      ...asking('ReferenceTypes', typeId),
      roots: ['ReferenceTypes', 'ReferenceType'],
    })
    // Another request may have learned it meanwhile: the name that it has been told by stays.
    if (into.has(typeId)) return
    const element = root?.name === 'ReferenceType' ? root : findElements(root, 'ReferenceType')[0]
    const type = { id: typeId, code: readText(element, 'Code'), name: readText(element, 'Name') }
    const name = buildTypeNames([type]).get(typeId) ?? typeId
    into.set(typeId, [...into.values()].includes(name) ? `${name}${typeId}` : name)
  }

  async function fetchValues(typeId: string, valueId?: string): Promise<Row[]> {
    const path = ['References', typeId, ...(valueId === undefined ? [] : [valueId])]
    const root = await client.document({ ...asking(...path), size: 'page', roots: valueRoots })
    const name = (await names()).get(typeId)
    if (name === undefined) return []
    return convertRecords(findElements(root, 'References', 'Reference'), value => parseReference(value, name)).rows
  }
  const values = ttlCache({ load: (typeId: string) => fetchValues(typeId) })

  return {
    getNames: names,
    async getNamesFor(records) {
      const found = await names()
      for (const [typeId] of records.flatMap(readReferences)) if (!found.has(typeId)) await learn(typeId, found)
      return found
    },
    getValues: typeId => values.get(typeId),
    async fetchRows(keys) {
      const idOf = new Map([...(await names())].map(([id, name]) => [name, id]))
      const rows: Row[] = []
      for (const { type, value } of keys) {
        const typeId = idOf.get(type)
        if (typeId === undefined) continue
        const is = (row: Row) => row.referenceValueId === value
        // The list may leave out what is no longer in use.
        const row = (await values.get(typeId)).find(is) ?? (await fetchValues(typeId, value)).find(is)
        if (row) rows.push(row)
      }
      return rows
    },
    getLoyaltyCodes: memoize(async () => {
      const root = await client.document({ ...asking('References', loyaltyReferenceType), roots: valueRoots })
      const codes = findElements(root, 'References', 'Reference')
      return new Map(codes.map(value => [readText(value, 'Id') ?? '', readText(value, 'Code') ?? '']))
    }),
  }
}
