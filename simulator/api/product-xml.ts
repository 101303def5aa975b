import type { ApiRequest } from '../http/request.ts'
import { isoText } from '../shop/clock.ts'
import type { Colour, Sku, Style } from '../shop/records.ts'
import { cents, type Shop, sum } from '../shop/shop.ts'
import { array, type Element, el, fields } from '../xml/element.ts'

/** Optional parts that a request can include. */
interface Extras {
  images: boolean
  customData: boolean
  colourReferences: boolean
}

/** All of these came with payload version 4. */
export const extrasOf = ({ version, query }: ApiRequest): Extras => {
  const wants = (name: string) => version >= 4 && query(name)?.toLowerCase() === 'true'
  return { images: wants('imageUrls'), customData: wants('CustomData'), colourReferences: wants('clrRefs') }
}

const image = (code: string) =>
  array('Images', [
    el(
      'Image',
      fields({ Sequence: 1, TypeId: 9923, TypeCode: 'WEB-01', Url: `https://images.example.test/${code}.jpg` }),
    ),
  ])
const noCards = () => el('CustomData', [array('Cards', [])])

function skuElement(sku: Sku, shop: Shop, factor: number): Element {
  return el('SKU', [
    ...fields({ Id: sku.id, ClrId: sku.colour.id, Sequence: sku.sequence }),
    ...fields({ SizeCode: sku.size, SizeDescription: sku.sizeName }),
    ...fields({ OriginalPrice: cents(sku.originalPrice * factor), Price: cents(sku.price * factor), RetailPrice: 0 }),
    ...(sku.weight === undefined ? [] : fields({ Weight: sku.weight, WeightUnitOfMeasure: 'Kg' })),
    ...fields({ FreeStock: shop.stock.total(sku.row), NextAvailable: sku.nextAvailable, Barcode: sku.barcode }),
    el('GlobalSequence', sku.sequence),
  ])
}

const colourElement = (colour: Colour, shop: Shop, factor: number, extras: Extras): Element =>
  el('Clr', [
    ...fields({ Id: colour.id, ProductId: colour.style.id, Sequence: colour.sequence, Code: colour.code }),
    ...fields({ Name: colour.name, TypeCode: colour.typeCode, TypeName: colour.name, MarkdownStatus: colour.markdown }),
    extras.colourReferences ? array('References', []) : undefined,
    extras.customData ? noCards() : undefined,
    extras.images ? image(`${colour.style.code}-${colour.code}`) : undefined,
    array(
      'SKUs',
      colour.skus.map(sku => skuElement(sku, shop, factor)),
    ),
  ])

/** A style with its colours and their SKUs. */
export function productElement(style: Style, number: number, shop: Shop, request: ApiRequest, extras: Extras): Element {
  const types = [...shop.referenceTypes.values()].filter(type => type.of === 'product')
  const markdown = request.query('markdownStatus')?.toLowerCase()
  const colours = style.colours.filter(colour => !markdown || colour.markdown.toLowerCase() === markdown)
  return el('Product', [
    ...fields({ Id: style.id, RowNumber: number, Code: style.code, Name: style.name, Description: style.description }),
    ...fields({ SizeRange: style.sizeRange, RrpText: '', UpdateTimeStamp: isoText(style.updated) }),
    array(
      'References',
      types.map(({ id }) => el('Reference', fields({ ReferenceTypeId: id, Id: style.references.get(id) }))),
    ),
    extras.customData ? noCards() : undefined,
    extras.images ? image(style.code) : undefined,
    array(
      'Clrs',
      colours.map(colour => colourElement(colour, shop, request.country.priceFactor, extras)),
    ),
  ])
}

export function simpleElement(style: Style, number: number, shop: Shop, { country }: ApiRequest): Element {
  const skus = style.colours.flatMap(colour => colour.skus)
  const originals = skus.map(sku => cents(sku.originalPrice * country.priceFactor))
  const prices = skus.map(sku => cents(sku.price * country.priceFactor))
  return el('ProductSimple', [
    ...fields({ Id: style.id, RowNumber: number, Code: style.code, Name: style.name, Description: style.description }),
    ...fields({ OriginalPriceFrom: Math.min(...originals), PriceFrom: Math.min(...prices) }),
    ...fields({ OriginalPriceTo: Math.max(...originals), PriceTo: Math.max(...prices) }),
    ...fields({
      AvailableStock: sum(skus.map(sku => shop.stock.total(sku.row))),
      UpdateTimeStamp: isoText(style.updated),
    }),
  ])
}
