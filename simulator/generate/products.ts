import { dayMs, secondMs, type Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Colour, Depth, Sku, Store, Style } from '../shop/records.ts'
import { roundToCents } from '../shop/shop.ts'
import { makeStock, type Stock } from '../shop/stock.ts'
import { accessories, colourNames, cuts, fabrics, garments, sizeRanges } from './words.ts'

/** The SKU of the gift voucher, whose price is free. */
export const voucherSkuId = 9_001
const freightSkuId = 9_101

const unsized = [['-', '-']] as const
const none = { name: '', sizes: unsized }

interface Counters {
  colour: number
  sku: number
  row: number
}

function makeSku(
  colour: Colour,
  sequence: number,
  [size, sizeName]: readonly [string, string],
  price: number,
  counters: Counters,
  random: Random,
): Sku {
  const id = ++counters.sku
  return {
    id,
    row: counters.row++,
    colour,
    sequence,
    size,
    sizeName,
    originalPrice: price,
    price: colour.markdown === 'None' ? price : roundToCents(Math.round(price * 0.7) - 0.05),
    ...(random.chance(0.7) && { weight: random.integer(80, 900) / 1_000 }),
    nextAvailable: random.chance(0.05) ? '2027-01-15' : '',
    // Nearly a fifth of the SKUs have no barcode.
    barcode: random.chance(0.82) ? `93${String(id).padStart(11, '0')}` : '',
  }
}

function makeStyle(id: number, today: Wall, counters: Counters, random: Random): Style {
  const depth: Depth = random.chance(0.82) ? 'size' : random.chance(0.7) ? 'colour' : 'style'
  const range = depth === 'size' ? random.pick(sizeRanges) : none
  const garment = depth === 'size' ? random.pick(garments) : random.pick(accessories)
  const style: Style = {
    id,
    code: `STY${id}`,
    name: `${random.pick(fabrics)} ${random.pick(cuts)} ${garment}`,
    depth,
    description: random.chance(0.2)
      ? 'Soft & light.\r\nWash cold; do not tumble.'
      : `A ${garment.toLowerCase()} for every day`,
    sizeRange: range.name,
    note: random.chance(0.3) ? 'Made in small batches.' : '',
    updated: today - random.integer(0, 700) * dayMs + random.integer(0, 86_399) * secondMs,
    references: new Map([
      [257, random.integer(1_342, 1_344)],
      ...(random.chance(0.6) ? [[1_621, 6_211] as const] : []),
    ]),
    colours: [],
  }
  const price = random.integer(2, 30) * 10 - 0.05
  const colours =
    depth === 'style'
      ? ([['-', '-']] as const)
      : random.shuffle(colourNames).slice(0, random.pick([1, 1, 1, 1, 1, 1, 2, 3]))
  // A style can contain the same colour code twice.
  const repeatedColours = colours.length > 1 && random.chance(0.05) ? [colours[0] ?? colourNames[0]] : []
  for (const [code = '-', name = '-'] of [...colours, ...repeatedColours.flatMap(color => (color ? [color] : []))]) {
    const markdown = random.chance(0.2) ? random.pick(['Permanent', 'Temporary'] as const) : 'None'
    const colour: Colour = {
      id: ++counters.colour,
      style,
      sequence: style.colours.length + 1,
      code,
      name,
      typeCode: code,
      markdown,
      skus: [],
    }
    colour.skus = range.sizes.map((size, i) => makeSku(colour, i + 1, size, price, counters, random))
    style.colours.push(colour)
  }
  return style
}

function makeSpecialStyle(
  id: number,
  skuId: number,
  colourId: number,
  row: number,
  name: string,
  kind: 'voucher' | 'freight',
): Style {
  const style: Style = {
    id,
    code: kind.toUpperCase(),
    name,
    description: name,
    sizeRange: '',
    note: '',
    depth: 'style',
    updated: 0,
    references: new Map(),
    colours: [],
    special: kind,
  }
  const colour: Colour = {
    id: colourId,
    style,
    sequence: 1,
    code: '-',
    name: '-',
    typeCode: '-',
    markdown: 'None',
    skus: [],
  }
  const sku: Sku = {
    id: skuId,
    row,
    colour,
    sequence: 1,
    size: '-',
    sizeName: '-',
    originalPrice: 0,
    price: 0,
    nextAvailable: '',
    barcode: '',
  }
  colour.skus.push(sku)
  style.colours.push(colour)
  return style
}

/** Creates this many styles, or as many as the number of SKUs requires. */
export function makeStyles(
  { styles, skus }: { styles: number; skus: number | undefined },
  today: Wall,
  random: Random,
): Style[] {
  const counters: Counters = { colour: 6_100, sku: 12_000, row: 0 }
  const stylesOfShop: Style[] = []
  while (skus === undefined ? stylesOfShop.length < styles : counters.row < skus)
    stylesOfShop.push(
      makeStyle(5_001 + stylesOfShop.length + (stylesOfShop.length >= 3_000 ? 2_000 : 0), today, counters, random),
    )
  stylesOfShop.push(makeSpecialStyle(8_001, voucherSkuId, 6_001, counters.row++, 'GIFT VOUCHER', 'voucher'))
  stylesOfShop.push(makeSpecialStyle(8_002, freightSkuId, 6_002, counters.row++, 'Freight Charge ', 'freight'))
  return stylesOfShop
}

/** Creates the stock: 1 to 12 units in some stores, none in most, negative units in a few. A SKU has at most nine rows on average. */
export function makeStocks(skus: readonly Sku[], stores: readonly Store[], today: Wall, random: Random): Stock {
  const stock = makeStock(skus.length, stores.length)
  const share = Math.min(0.6, 8.97 / stores.length)
  for (const sku of skus) {
    if (sku.colour.style.special) continue
    const when = random.chance(0.05) ? today - random.integer(0, dayMs - 1) : 0
    // One in forty SKUs is sold out in all stores.
    const stockedShare = random.chance(0.025) ? 0 : share
    for (const { column } of stores) {
      const fraction = random.fraction()
      const quantity =
        fraction < stockedShare
          ? 1 + Math.floor((fraction / stockedShare) * 12)
          : fraction > 0.995
            ? -random.integer(1, 5)
            : 0
      stock.set(sku.row, column, quantity, quantity === 0 && fraction < 0.9 ? 0 : when)
    }
  }
  return stock
}
