import { ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { fromOne, paged } from '../http/paging.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import type { Colour, Sku, Store, Style } from '../shop/records.ts'
import type { World } from '../world/world.ts'
import { type Element, el } from '../xml/element.ts'

function index(request: ApiRequest): number {
  const id = whole(request.parameters[0])
  if (id === undefined) throw createRejection(5081)
  return id
}

/** True if there is any stock: stores with zero or negative stock aren't shown. */
function storesWith({ shop }: World, sku: Sku, stores: Iterable<Store>): Element[] {
  const elements: Element[] = []
  for (const { id, column, number, name } of stores) {
    const free = shop.stock.at(sku.row, column)
    if (free > 0)
      elements.push(el('Store', undefined, { Name: name, StoreId: id, StoreNumber: number, FreeStock: free }))
  }
  return elements
}

const partName = (part: string) => (part === '-' ? '' : part)
const joined = (...parts: string[]) => parts.map(partName).filter(Boolean).join(' ')

/** Nodes have the name of their own part; the root has the names of all above it too. */
function skuNode(world: World, sku: Sku, stores: Iterable<Store>, name = sku.sizeName): Element | undefined {
  const rows = storesWith(world, sku, stores)
  return rows.length ? el('Sku', rows, { Name: name, SkuIdx: sku.id }) : undefined
}

function colourNode(world: World, colour: Colour, stores: Iterable<Store>, name = colour.name): Element | undefined {
  const [only] = colour.skus
  const rows =
    colour.style.depth === 'size'
      ? colour.skus.map(sku => skuNode(world, sku, stores)).filter(node => node !== undefined)
      : only
        ? storesWith(world, only, stores)
        : []
  return rows.length ? el('Clr', rows, { Name: name, ClrIdx: colour.id }) : undefined
}

function styleNode(world: World, style: Style, stores: Iterable<Store>): Element | undefined {
  const only = style.colours[0]?.skus[0]
  const rows =
    style.depth !== 'style'
      ? style.colours.map(colour => colourNode(world, colour, stores)).filter(node => node !== undefined)
      : only
        ? storesWith(world, only, stores)
        : []
  return rows.length ? el('Style', rows, { Name: style.name, StyleIdx: style.id }) : undefined
}

const shown = (node: Element | undefined) => {
  if (!node) throw nothing()
  return ok(node)
}

export const freestockOfStyle: Handler = (request, world) => {
  const style = world.shop.styles.get(index(request))
  if (!style) throw nothing()
  return shown(styleNode(world, style, [...world.shop.stores.values()]))
}

export const freestockOfColour: Handler = (request, world) => {
  const colour = world.shop.colours.get(index(request))
  if (!colour) throw nothing()
  const stores = [...world.shop.stores.values()]
  return shown(
    colour.style.depth === 'style'
      ? styleNode(world, colour.style, stores)
      : colourNode(world, colour, stores, joined(colour.style.name, colour.name)),
  )
}

export const freestockOfSku: Handler = (request, world) => {
  const sku = world.shop.skus.get(index(request))
  if (!sku) throw nothing()
  const { colour } = sku
  const stores = [...world.shop.stores.values()]
  if (colour.style.depth === 'style') return shown(styleNode(world, colour.style, stores))
  return shown(skuNode(world, sku, stores, joined(colour.style.name, colour.name, sku.sizeName)))
}

/** Everything, or everything in one store. Rows are styles, in the order of their ids. */
export const freestockOfAll: Handler = (request, world) => {
  const { shop } = world
  let stores = [...shop.stores.values()]
  if (request.parameters.length) {
    const store = shop.stores.get(index(request))
    if (!store) throw nothing()
    stores = [store]
  }
  // Finds the styles with stock first, because the root contains their count.
  const has = (sku: Sku) => stores.some(({ column }) => shop.stock.at(sku.row, column) > 0)
  const rows = [...shop.styles.values()].filter(style => style.colours.some(colour => colour.skus.some(has)))
  rows.sort((a, b) => a.id - b.id)
  return paged(request, world, {
    name: 'FreeStock',
    rows,
    row: style => styleNode(world, style, stores) ?? el('Style', undefined, { Name: style.name, StyleIdx: style.id }),
    unpaged: fromOne,
  })
}
