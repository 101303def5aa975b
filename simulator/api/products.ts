import { type Answer, ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { paged, wholeList } from '../http/paging.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { dateText, readWall } from '../shop/clock.ts'
import type { Sku, Style } from '../shop/records.ts'
import { cents, type Shop } from '../shop/shop.ts'
import { has, isAfter, type World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { extrasOf, productElement, simpleElement } from './product-xml.ts'

/** The styles that the web store exports. */
const exported = (shop: Shop) => [...shop.styles.values()].filter(style => style.special !== 'freight')

const lowestPrice = (style: Style) => Math.min(...style.colours.flatMap(colour => colour.skus.map(sku => sku.price)))

const sortable: Record<string, (style: Style) => string | number> = {
  id: style => style.id,
  code: style => style.code,
  name: style => style.name,
  description: style => style.description,
  price: lowestPrice,
}

/** `{name:asc}{id:desc}` */
function inOrder(styles: Style[], order: string): Style[] {
  const keys = [...order.matchAll(/\{(\w+):(asc|desc)\}/gi)].flatMap(([, name = '', direction = '']) => {
    const value = sortable[name.toLowerCase()]
    return value ? [{ value, sign: direction.toLowerCase() === 'desc' ? -1 : 1 }] : []
  })
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
  return styles.sort((a, b) => {
    for (const { value, sign } of keys) if (value(a) !== value(b)) return sign * compare(value(a), value(b))
    return 0
  })
}

function selected(request: ApiRequest, world: World): Style[] {
  const { query } = request
  const after = query('updatedAfter')
  const since = after && has(world, 'productsUpdatedAfter') ? readWall(after) : Number.NEGATIVE_INFINITY
  if (since === undefined) throw createRejection(5144, { detail: after ?? '' })
  // `seq,refId:seq,refId`: all of them.
  const references = (query('query') ?? '').split(':').flatMap(pair => whole(pair.split(',')[1]) ?? [])
  const code = query('styleCode')?.toLowerCase()
  const colour = query('colourFilter')?.toLowerCase()
  const size = query('sizeFilter')?.toLowerCase()
  return exported(world.shop).filter(
    style =>
      (since === Number.NEGATIVE_INFINITY || isAfter(world, style.updated, since)) &&
      references.every(id => [...style.references.values()].includes(id)) &&
      (code === undefined || style.code.toLowerCase() === code) &&
      (colour === undefined || style.colours.some(candidate => candidate.code.toLowerCase() === colour)) &&
      (size === undefined ||
        style.colours.some(candidate => candidate.skus.some(sku => sku.size.toLowerCase() === size))),
  )
}

const list =
  (name: string, row: typeof productElement | typeof simpleElement, attributes: Record<string, string>): Handler =>
  (request, world): Answer => {
    const extras = extrasOf(request)
    return paged(request, world, {
      name,
      rows: inOrder(selected(request, world), request.query('order') ?? '{id:asc}'),
      row: (style, number) => row(style, number, world.shop, request, extras),
      unpaged: wholeList,
      attributes,
    })
  }

export const allProducts = list('Products', productElement, { FromCache: 'false' })
export const allSimpleProducts = list('ProductsSimple', simpleElement, {})

function styleOf(request: ApiRequest, { shop }: World): Style {
  const style = shop.styles.get(whole(request.parameters[0]) ?? 0)
  if (!style || style.special === 'freight') throw nothing()
  return style
}

export const oneProduct: Handler = (request, world) =>
  ok(productElement(styleOf(request, world), 1, world.shop, request, extrasOf(request)))

export const oneSimpleProduct: Handler = (request, world) =>
  ok(simpleElement(styleOf(request, world), 1, world.shop, request))

/** Each note is a separate escaped document. */
export const productNotes: Handler = (request, world) => {
  const style = styleOf(request, world)
  if (!style.note) throw nothing()
  const note = `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>${style.note}</p></body></html>`
  return ok(el('ProductNoteTypes', [el('ProductNoteType', fields({ Code: 'WEB', Name: 'Web note', Note: note }))]))
}

/** The styles with a price that begins after today, up to `cutOffDate`; the first `numberOfPriceChange` of each SKU. */
export const futurePrices: Handler = (request, { shop, clock }) => {
  const last = request.query('cutOffDate') ?? '9999-12-31'
  if (readWall(last) === undefined) throw createRejection(5144, { detail: last })
  const maxChanges = whole(request.query('numberOfPriceChange')) ?? Number.POSITIVE_INFINITY
  const changesOf = (sku: Sku) =>
    (shop.futurePrices.get(sku.id) ?? [])
      .filter(({ from }) => from > dateText(clock.wall()) && from <= last)
      .sort((a, b) => a.from.localeCompare(b.from))
      .slice(0, maxChanges)
  const styles = exported(shop).flatMap(style => {
    const colours = style.colours.flatMap(colour => {
      const skus = colour.skus.filter(sku => changesOf(sku).length)
      return skus.length ? [{ colour, skus }] : []
    })
    return colours.length ? [{ style, colours }] : []
  })
  if (!styles.length) throw nothing()
  const price = (value: number) => cents(value * request.country.priceFactor)
  return ok(
    el(
      'FuturePrices',
      styles.map(({ style, colours }) =>
        el('Style', [
          ...fields({ StyleId: style.id, StyleCode: style.code }),
          ...colours.map(({ colour, skus }) =>
            el('Clr', [
              ...fields({ ClrId: colour.id, ClrCode: colour.code }),
              ...skus.map(sku =>
                el('Sku', [
                  ...fields({ SkuId: sku.id, SizeCode: sku.size }),
                  ...fields({ OriginalPrice: price(sku.originalPrice), Price: price(sku.price) }),
                  array(
                    'PriceChanges',
                    changesOf(sku).map(change =>
                      el('PriceChange', fields({ Price: price(change.price), FromDate: change.from })),
                    ),
                  ),
                ]),
              ),
            ]),
          ),
        ]),
      ),
    ),
  )
}

/** This shop has no product custom data and no suggestions. */
export const noTemplates: Handler = () => {
  throw createRejection(5206)
}
export const noData: Handler = () => {
  throw nothing()
}

/** The distinct values of colours or sizes. */
export const distinct =
  (root: string, name: string, valuesIn: (style: Style) => { code: string; name: string }[]): Handler =>
  (_, { shop }) => {
    const values = new Map(
      exported(shop)
        .flatMap(valuesIn)
        .map(value => [value.code, value.name]),
    )
    return ok(
      el(
        root,
        [...values].map(([code, text]) => el(name, fields({ Code: code, Name: text }))),
        { Type: 'Array' },
      ),
    )
  }
