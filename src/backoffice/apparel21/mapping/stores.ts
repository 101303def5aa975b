import type { SyncRows } from '../../../domain/sync/port.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import { text } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** A store. One without a number is known by its code. */
export function storeFrom(store: Xml): SyncRows['stores'] {
  const storeId = text(store, 'StoreId')
  if (!storeId) throw new Untranslatable('A store has no StoreId.')
  const code = text(store, 'Code')
  const storeNumber = text(store, 'StoreNo') ?? code ?? storeId
  return {
    storeId,
    storeNumber,
    code,
    name: text(store, 'Name') ?? code ?? storeNumber,
    email: text(store, 'Email'),
    addressLine1: text(store, 'Address1'),
    addressLine2: text(store, 'Address2'),
    city: text(store, 'City'),
    state: text(store, 'State'),
    postcode: text(store, 'Postcode'),
    country: text(store, 'Country'),
  }
}
