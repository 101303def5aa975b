import { createNoDataError, createRejection } from '../http/errors.ts'
import { completeList, respondPaged } from '../http/paging.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { type ApiResponse, respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatDate, parseWall } from '../shop/clock.ts'
import type { Sku, Style } from '../shop/records.ts'
import { roundToCents, type Shop } from '../shop/shop.ts'
import { hasFeature, isAfter, type World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { buildProduct, buildSimpleProduct, readExtras } from './product-xml.ts'

/** Lists the styles that the web store exports. */
const listExportedStyles = (shop: Shop) => [...shop.styles.values()].filter(style => style.special !== 'freight')

const getLowestPrice = (style: Style) => Math.min(...style.colours.flatMap(colour => colour.skus.map(sku => sku.price)))

const sortable: Record<string, (style: Style) => string | number> = {
  id: style => style.id,
  code: style => style.code,
  name: style => style.name,
  description: style => style.description,
  price: getLowestPrice,
}

/** Sorts styles by an order such as `{name:asc}{id:desc}`. */
function sortStyles(styles: Style[], order: string): Style[] {
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

function selectStyles(request: ApiRequest, world: World): Style[] {
  const { query } = request
  const after = query('updatedAfter')
  const since = after && hasFeature(world, 'productsUpdatedAfter') ? parseWall(after) : Number.NEGATIVE_INFINITY
  if (since === undefined) throw createRejection(5144, { detail: after ?? '' })
  // The parameter is `seq,refId:seq,refId`. A style must have all these references.
  const references = (query('query') ?? '').split(':').flatMap(pair => parseInteger(pair.split(',')[1]) ?? [])
  const code = query('styleCode')?.toLowerCase()
  const colour = query('colourFilter')?.toLowerCase()
  const size = query('sizeFilter')?.toLowerCase()
  return listExportedStyles(world.shop).filter(
    style =>
      (since === Number.NEGATIVE_INFINITY || isAfter(world, style.updated, since)) &&
      references.every(id => [...style.references.values()].includes(id)) &&
      (code === undefined || style.code.toLowerCase() === code) &&
      (colour === undefined || style.colours.some(candidate => candidate.code.toLowerCase() === colour)) &&
      (size === undefined ||
        style.colours.some(candidate => candidate.skus.some(sku => sku.size.toLowerCase() === size))),
  )
}

const createListHandler =
  (name: string, row: typeof buildProduct | typeof buildSimpleProduct, attributes: Record<string, string>): Handler =>
  (request, world): ApiResponse => {
    const extras = readExtras(request)
    return respondPaged(request, world, {
      name,
      rows: sortStyles(selectStyles(request, world), request.query('order') ?? '{id:asc}'),
      row: (style, number) => row(style, number, world.shop, request, extras),
      unpaged: completeList,
      attributes,
    })
  }

export const listProducts = createListHandler('Products', buildProduct, { FromCache: 'false' })
export const listSimpleProducts = createListHandler('ProductsSimple', buildSimpleProduct, {})

function requireStyle(request: ApiRequest, { shop }: World): Style {
  const style = shop.styles.get(parseInteger(request.parameters[0]) ?? 0)
  if (!style || style.special === 'freight') throw createNoDataError()
  return style
}

export const getProduct: Handler = (request, world) =>
  respondOk(buildProduct(requireStyle(request, world), 1, world.shop, request, readExtras(request)))

export const getSimpleProduct: Handler = (request, world) =>
  respondOk(buildSimpleProduct(requireStyle(request, world), 1, world.shop, request))

/** Returns the notes of a style. Each note is an escaped document. */
export const getProductNotes: Handler = (request, world) => {
  const style = requireStyle(request, world)
  if (!style.note) throw createNoDataError()
  const note = `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>${style.note}</p></body></html>`
  return respondOk(
    el('ProductNoteTypes', [el('ProductNoteType', fields({ Code: 'WEB', Name: 'Web note', Note: note }))]),
  )
}

/** Lists the styles with prices that begin after today, up to `cutOffDate`: at most `numberOfPriceChange` prices of each SKU. */
export const listFuturePrices: Handler = (request, { shop, clock }) => {
  const last = request.query('cutOffDate') ?? '9999-12-31'
  if (parseWall(last) === undefined) throw createRejection(5144, { detail: last })
  const maxChanges = parseInteger(request.query('numberOfPriceChange')) ?? Number.POSITIVE_INFINITY
  const findPriceChanges = (sku: Sku) =>
    (shop.futurePrices.get(sku.id) ?? [])
      .filter(({ from }) => from > formatDate(clock.wall()) && from <= last)
      .sort((a, b) => a.from.localeCompare(b.from))
      .slice(0, maxChanges)
  const styles = listExportedStyles(shop).flatMap(style => {
    const colours = style.colours.flatMap(colour => {
      const skus = colour.skus.filter(sku => findPriceChanges(sku).length)
      return skus.length ? [{ colour, skus }] : []
    })
    return colours.length ? [{ style, colours }] : []
  })
  if (!styles.length) throw createNoDataError()
  const convertPrice = (value: number) => roundToCents(value * request.country.priceFactor)
  return respondOk(
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
                  ...fields({ OriginalPrice: convertPrice(sku.originalPrice), Price: convertPrice(sku.price) }),
                  array(
                    'PriceChanges',
                    findPriceChanges(sku).map(change =>
                      el('PriceChange', fields({ Price: convertPrice(change.price), FromDate: change.from })),
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

/** Rejects requests for custom data templates of products, which this shop doesn't have. */
export const rejectTemplates: Handler = () => {
  throw createRejection(5206)
}
export const rejectNoData: Handler = () => {
  throw createNoDataError()
}

/** Creates a handler that lists the distinct values of colours or sizes. */
export const createDistinctHandler =
  (root: string, name: string, getValues: (style: Style) => { code: string; name: string }[]): Handler =>
  (_, { shop }) => {
    const values = new Map(
      listExportedStyles(shop)
        .flatMap(getValues)
        .map(value => [value.code, value.name]),
    )
    return respondOk(
      el(
        root,
        [...values].map(([code, text]) => el(name, fields({ Code: code, Name: text }))),
        { Type: 'Array' },
      ),
    )
  }
