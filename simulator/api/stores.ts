import { createNoDataError, createRejection } from '../http/errors.ts'
import { parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import type { Store } from '../shop/records.ts'
import { el, fields } from '../xml/element.ts'

const buildStore = ({ id, code, number, name, address, email }: Store) =>
  el('Store', [
    ...fields({ StoreId: id, Code: code, StoreNo: number, Name: name }),
    ...fields({ Address1: address.line1, Address2: address.line2, City: address.city, State: address.state }),
    ...fields({ Postcode: address.postcode, Country: address.country }),
    email ? el('Email', email) : undefined,
  ])

export const listStores: Handler = (_, { shop }) => {
  const shops = [...shop.stores.values()].filter(store => store.kind === 'shop')
  if (!shops.length) throw createNoDataError()
  return respondOk(el('Stores', shops.map(buildStore)))
}

export const getStore: Handler = ({ parameters }, { shop }) => {
  const id = parseInteger(parameters[0])
  if (id === undefined) throw createRejection(5081)
  const store = shop.stores.get(id)
  if (store?.kind !== 'shop') throw createNoDataError()
  return respondOk(buildStore(store))
}
