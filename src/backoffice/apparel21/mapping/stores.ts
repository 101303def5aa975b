import type { SyncRows } from '../../../domain/sync/port.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Parses a store. A store without a number uses its code as the number. */
export function parseStore(store: Xml): SyncRows['stores'] {
  const storeId = readText(store, 'StoreId')
  if (!storeId) throw new InvalidRecord('A store has no StoreId.')
  const code = readText(store, 'Code')
  const storeNumber = readText(store, 'StoreNo') ?? code ?? storeId
  return {
    storeId,
    storeNumber,
    kind: 'store',
    code,
    name: readText(store, 'Name') ?? code ?? storeNumber,
    email: readText(store, 'Email'),
    addressLine1: readText(store, 'Address1'),
    addressLine2: readText(store, 'Address2'),
    city: readText(store, 'City'),
    state: readText(store, 'State'),
    postcode: readText(store, 'Postcode'),
    country: readText(store, 'Country'),
  }
}
