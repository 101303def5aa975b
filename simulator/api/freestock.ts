import { createNoDataError, createRejection } from '../http/errors.ts'
import { fromOne, respondPaged } from '../http/paging.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import type { Colour, Sku, Store, Style } from '../shop/records.ts'
import type { World } from '../world/world.ts'
import { type Element, el } from '../xml/element.ts'

function readIndex(request: ApiRequest): number {
  const id = parseInteger(request.parameters[0])
  if (id === undefined) throw createRejection(5081)
  return id
}

/** Builds an element for each store with stock. Stores with zero or negative stock aren't shown. */
function buildStores({ shop }: World, sku: Sku, stores: Iterable<Store>): Element[] {
  const elements: Element[] = []
  for (const { id, column, number, name } of stores) {
    const free = shop.stock.get(sku.row, column)
    if (free > 0)
      elements.push(el('Store', undefined, { Name: name, StoreId: id, StoreNumber: number, FreeStock: free }))
  }
  return elements
}

const getPartName = (part: string) => (part === '-' ? '' : part)
const joinNames = (...parts: string[]) => parts.map(getPartName).filter(Boolean).join(' ')

/** Builds the node of a SKU, or undefined without stock. `name` is that of its part; a root node also has the names of its parents. */
function buildSkuNode(world: World, sku: Sku, stores: Iterable<Store>, name = sku.sizeName): Element | undefined {
  const rows = buildStores(world, sku, stores)
  return rows.length ? el('Sku', rows, { Name: name, SkuIdx: sku.id }) : undefined
}

function buildColourNode(
  world: World,
  colour: Colour,
  stores: Iterable<Store>,
  name = colour.name,
): Element | undefined {
  const [only] = colour.skus
  const rows =
    colour.style.depth === 'size'
      ? colour.skus.map(sku => buildSkuNode(world, sku, stores)).filter(node => node !== undefined)
      : only
        ? buildStores(world, only, stores)
        : []
  return rows.length ? el('Clr', rows, { Name: name, ClrIdx: colour.id }) : undefined
}

function buildStyleNode(world: World, style: Style, stores: Iterable<Store>): Element | undefined {
  const only = style.colours[0]?.skus[0]
  const rows =
    style.depth !== 'style'
      ? style.colours.map(colour => buildColourNode(world, colour, stores)).filter(node => node !== undefined)
      : only
        ? buildStores(world, only, stores)
        : []
  return rows.length ? el('Style', rows, { Name: style.name, StyleIdx: style.id }) : undefined
}

const respondWithNode = (node: Element | undefined) => {
  if (!node) throw createNoDataError()
  return respondOk(node)
}

export const getStyleFreestock: Handler = (request, world) => {
  const style = world.shop.styles.get(readIndex(request))
  if (!style) throw createNoDataError()
  return respondWithNode(buildStyleNode(world, style, [...world.shop.stores.values()]))
}

export const getColourFreestock: Handler = (request, world) => {
  const colour = world.shop.colours.get(readIndex(request))
  if (!colour) throw createNoDataError()
  const stores = [...world.shop.stores.values()]
  return respondWithNode(
    colour.style.depth === 'style'
      ? buildStyleNode(world, colour.style, stores)
      : buildColourNode(world, colour, stores, joinNames(colour.style.name, colour.name)),
  )
}

export const getSkuFreestock: Handler = (request, world) => {
  const sku = world.shop.skus.get(readIndex(request))
  if (!sku) throw createNoDataError()
  const { colour } = sku
  const stores = [...world.shop.stores.values()]
  if (colour.style.depth === 'style') return respondWithNode(buildStyleNode(world, colour.style, stores))
  return respondWithNode(buildSkuNode(world, sku, stores, joinNames(colour.style.name, colour.name, sku.sizeName)))
}

/** Lists the stock of all stores or of one store. Rows are styles in the order of their IDs. */
export const listFreestock: Handler = (request, world) => {
  const { shop } = world
  let stores = [...shop.stores.values()]
  if (request.parameters.length) {
    const store = shop.stores.get(readIndex(request))
    if (!store) throw createNoDataError()
    stores = [store]
  }
  // Finds the styles with stock first, because the root element contains their number.
  const hasStock = (sku: Sku) => stores.some(({ column }) => shop.stock.get(sku.row, column) > 0)
  const rows = [...shop.styles.values()].filter(style => style.colours.some(colour => colour.skus.some(hasStock)))
  rows.sort((a, b) => a.id - b.id)
  return respondPaged(request, world, {
    name: 'FreeStock',
    rows,
    row: style =>
      buildStyleNode(world, style, stores) ?? el('Style', undefined, { Name: style.name, StyleIdx: style.id }),
    unpaged: fromOne,
  })
}
