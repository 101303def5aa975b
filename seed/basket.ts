import { type Day, monthOf } from './calendar.ts'
import type { Shopper } from './customers.ts'
import { percentOf } from './money.ts'
import type { Colour, Sku, Style } from './products.ts'
import { type Draw, drawBy, drawFrom, type Random } from './random.ts'
import { promotionOn } from './trading.ts'

export interface SoldLine {
  /** Null if the item is no longer known. */
  sku: string | null
  productCode: string
  productName: string
  colourCode: string
  colourName: string
  sizeCode: string
  /** Negative for a return. */
  quantity: number
  /** The unit price and the discount, in cents. */
  price: number
  off: number
  discount: Discount | null
  /** The other sizes of the colour. */
  sizes: readonly Sku[]
}

interface Discount {
  type: 'loyalty' | 'promotion'
  reason: string
  percent: number
}

/** Returns the cents paid for a line, negative for a return. */
export const paid = (line: SoldLine) => (line.price - line.off) * line.quantity

/** An item that was discontinued just before today's range. Only old receipts contain it. */
export const discontinued: SoldLine = {
  sku: null,
  productCode: 'TRAM-CARDI',
  productName: 'Tram Cardigan',
  colourCode: 'BTL',
  colourName: 'Bottle',
  sizeCode: 'M',
  quantity: 1,
  price: 4995,
  off: 0,
  discount: null,
  sizes: [],
}

const basketSize = drawFrom([
  [1, 44],
  [2, 27],
  [3, 15],
  [4, 8],
  [5, 4],
  [6, 2],
] as const)

/** The buyer, the place and the discount of a basket. */
interface Buyer {
  shopper: Shopper | null
  day: Day
  onWeb: boolean
  loyalty: { name: string; discount: number } | null
}

/** Creates baskets from a range. Items in season sell more often. */
export function baskets(random: Random, styles: readonly Style[]): (buyer: Buyer) => SoldLine[] {
  const months = Array.from({ length: 12 }, (_, month) =>
    drawBy(styles.map(style => style.weight * (style.category.months[month] ?? 0))),
  )
  return buyer => {
    const lines = new Map<string, SoldLine>()
    const size = basketSize(random)
    const draw = months[monthOf(buyer.day)] as Draw
    while (lines.size < size) {
      const style = styles[draw.index(random)] as Style
      if (style.launched > buyer.day || !suits(random, style, buyer.shopper)) continue
      const colour = random.pick(style.colours)
      const sku = fitting(random, colour, buyer.shopper)
      lines.set(sku.sku, lineOf(random, buyer, style, colour, sku))
    }
    return [...lines.values()]
  }
}

const suits = (random: Random, style: Style, shopper: Shopper | null) =>
  shopper === null || style.gender === 'unisex' || style.gender === shopper.wears || random.chance(0.12)

/** Most people buy their own size. Some buyers are unknown. */
function fitting(random: Random, { sizes }: Colour, shopper: Shopper | null): Sku {
  const build = shopper && random.chance(0.8) ? shopper.build : (random.fraction() + random.fraction()) / 2
  return sizes[Math.floor(build * sizes.length)] as Sku
}

function lineOf(random: Random, buyer: Buyer, style: Style, colour: Colour, sku: Sku): SoldLine {
  const markedDown = colour.markedDown !== null && buyer.day >= colour.markedDown
  const price = markedDown ? colour.price : style.price
  const discount = markedDown ? null : bestDiscount(buyer, style)
  const several = style.category.name === 'Socks' ? 0.45 : 0.05
  return {
    sku: sku.sku,
    productCode: style.code,
    productName: style.name,
    colourCode: colour.code,
    colourName: colour.name,
    sizeCode: sku.size,
    quantity: random.chance(several) ? random.integer(2, 3) : 1,
    price,
    off: discount ? percentOf(price, discount.percent) : 0,
    discount,
    sizes: colour.sizes,
  }
}

/** A promotion covers one style in three. If a member's own discount is better, it applies instead. */
function bestDiscount({ day, onWeb, loyalty }: Buyer, style: Style): Discount | null {
  const promotion = Number(style.id) % 3 === 0 ? promotionOn(day) : undefined
  const own = loyalty?.discount ?? 0
  if (promotion && promotion.percent > own && (onWeb || !promotion.webOnly))
    return { type: 'promotion', reason: promotion.reason, percent: promotion.percent }
  return loyalty && own > 0 ? { type: 'loyalty', reason: `${loyalty.name} member`, percent: own } : null
}
