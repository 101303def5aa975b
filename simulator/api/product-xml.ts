import type { ApiRequest } from '../http/request.ts'
import { formatIso } from '../shop/clock.ts'
import type { Colour, Sku, Style } from '../shop/records.ts'
import { roundToCents, type Shop, sumAmounts } from '../shop/shop.ts'
import { array, type Element, el, fields } from '../xml/element.ts'

/** The optional parts of a product that a request includes. */
interface Extras {
  images: boolean
  customData: boolean
  colourReferences: boolean
}

/** Reads the optional parts of a request. Payload versions before 4 have none. */
export const readExtras = ({ version, query }: ApiRequest): Extras => {
  const isRequested = (name: string) => version >= 4 && query(name)?.toLowerCase() === 'true'
  return {
    images: isRequested('imageUrls'),
    customData: isRequested('CustomData'),
    colourReferences: isRequested('clrRefs'),
  }
}

const buildImages = (code: string) =>
  array('Images', [
    el(
      'Image',
      fields({ Sequence: 1, TypeId: 9923, TypeCode: 'WEB-01', Url: `https://images.example.test/${code}.jpg` }),
    ),
  ])
const buildEmptyCustomData = () => el('CustomData', [array('Cards', [])])

function buildSku(sku: Sku, shop: Shop, factor: number): Element {
  return el('SKU', [
    ...fields({ Id: sku.id, ClrId: sku.colour.id, Sequence: sku.sequence }),
    ...fields({ SizeCode: sku.size, SizeDescription: sku.sizeName }),
    ...fields({
      OriginalPrice: roundToCents(sku.originalPrice * factor),
      Price: roundToCents(sku.price * factor),
      RetailPrice: 0,
    }),
    ...(sku.weight === undefined ? [] : fields({ Weight: sku.weight, WeightUnitOfMeasure: 'Kg' })),
    ...fields({ FreeStock: shop.stock.getTotal(sku.row), NextAvailable: sku.nextAvailable, Barcode: sku.barcode }),
    el('GlobalSequence', sku.sequence),
  ])
}

const buildColour = (colour: Colour, shop: Shop, factor: number, extras: Extras): Element =>
  el('Clr', [
    ...fields({ Id: colour.id, ProductId: colour.style.id, Sequence: colour.sequence, Code: colour.code }),
    ...fields({ Name: colour.name, TypeCode: colour.typeCode, TypeName: colour.name, MarkdownStatus: colour.markdown }),
    extras.colourReferences ? array('References', []) : undefined,
    extras.customData ? buildEmptyCustomData() : undefined,
    extras.images ? buildImages(`${colour.style.code}-${colour.code}`) : undefined,
    array(
      'SKUs',
      colour.skus.map(sku => buildSku(sku, shop, factor)),
    ),
  ])

/** Builds a style with its colours and their SKUs. */
export function buildProduct(style: Style, number: number, shop: Shop, request: ApiRequest, extras: Extras): Element {
  const types = [...shop.referenceTypes.values()].filter(type => type.recordType === 'product')
  const markdown = request.query('markdownStatus')?.toLowerCase()
  const colours = style.colours.filter(colour => !markdown || colour.markdown.toLowerCase() === markdown)
  return el('Product', [
    ...fields({ Id: style.id, RowNumber: number, Code: style.code, Name: style.name, Description: style.description }),
    ...fields({ SizeRange: style.sizeRange, RrpText: '', UpdateTimeStamp: formatIso(style.updated) }),
    array(
      'References',
      types.map(({ id }) => el('Reference', fields({ ReferenceTypeId: id, Id: style.references.get(id) }))),
    ),
    extras.customData ? buildEmptyCustomData() : undefined,
    extras.images ? buildImages(style.code) : undefined,
    array(
      'Clrs',
      colours.map(colour => buildColour(colour, shop, request.country.priceFactor, extras)),
    ),
  ])
}

export function buildSimpleProduct(style: Style, number: number, shop: Shop, { country }: ApiRequest): Element {
  const skus = style.colours.flatMap(colour => colour.skus)
  const originals = skus.map(sku => roundToCents(sku.originalPrice * country.priceFactor))
  const prices = skus.map(sku => roundToCents(sku.price * country.priceFactor))
  return el('ProductSimple', [
    ...fields({ Id: style.id, RowNumber: number, Code: style.code, Name: style.name, Description: style.description }),
    ...fields({ OriginalPriceFrom: Math.min(...originals), PriceFrom: Math.min(...prices) }),
    ...fields({ OriginalPriceTo: Math.max(...originals), PriceTo: Math.max(...prices) }),
    ...fields({
      AvailableStock: sumAmounts(skus.map(sku => shop.stock.getTotal(sku.row))),
      UpdateTimeStamp: formatIso(style.updated),
    }),
  ])
}
