import { ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import type { Store } from '../shop/records.ts'
import { el, fields } from '../xml/element.ts'

const storeElement = ({ id, code, number, name, address, email }: Store) =>
  el('Store', [
    ...fields({ StoreId: id, Code: code, StoreNo: number, Name: name }),
    ...fields({ Address1: address.line1, Address2: address.line2, City: address.city, State: address.state }),
    ...fields({ Postcode: address.postcode, Country: address.country }),
    email ? el('Email', email) : undefined,
  ])

export const allStores: Handler = (_, { shop }) => {
  const shops = [...shop.stores.values()].filter(store => store.kind === 'shop')
  if (!shops.length) throw nothing()
  return ok(el('Stores', shops.map(storeElement)))
}

export const oneStore: Handler = ({ parameters }, { shop }) => {
  const id = whole(parameters[0])
  if (id === undefined) throw createRejection(5081)
  const store = shop.stores.get(id)
  if (store?.kind !== 'shop') throw nothing()
  return ok(storeElement(store))
}
