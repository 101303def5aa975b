import { type Day, getMonth } from './calendar.ts'
import type { Shopper } from './customers.ts'
import { computePercentage } from './money.ts'
import type { Colour, Sku, Style } from './products.ts'
import { createDraw, createItemDraw, type Draw, type Random } from './random.ts'
import { findPromotion } from './trading.ts'

export interface SoldLine {
  /** Null if the item has been deleted. */
  sku: string | null
  productCode: string
  productName: string
  colourCode: string
  colourName: string
  sizeCode: string
  /** Negative for a return. */
  quantity: number
  /** The unit price and the unit discount, in cents. */
  price: number
  discountCents: number
  discount: Discount | null
  /** All sizes of the colour. */
  sizes: readonly Sku[]
}

interface Discount {
  type: 'loyalty' | 'promotion'
  reason: string
  percent: number
}

/** Returns the cents paid for a line, negative for a return. */
export const computePaid = (line: SoldLine) => (line.price - line.discountCents) * line.quantity

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
  discountCents: 0,
  discount: null,
  sizes: [],
}

const drawBasketSize = createItemDraw([
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

/** Returns a function that draws the basket of a buyer. Items in season sell more often. */
export function createBasketDraw(random: Random, styles: readonly Style[]): (buyer: Buyer) => SoldLine[] {
  const months = Array.from({ length: 12 }, (_, month) =>
    createDraw(styles.map(style => style.weight * (style.category.months[month] ?? 0))),
  )
  return buyer => {
    const lines = new Map<string, SoldLine>()
    const size = drawBasketSize(random)
    const draw = months[getMonth(buyer.day)] as Draw
    while (lines.size < size) {
      const style = styles[draw.index(random)] as Style
      if (style.launched > buyer.day || !drawSuitability(random, style, buyer.shopper)) continue
      const colour = random.pick(style.colours)
      const sku = drawSku(random, colour, buyer.shopper)
      lines.set(sku.sku, createLine(random, buyer, style, colour, sku))
    }
    return [...lines.values()]
  }
}

/** Draws whether a shopper buys a style. One in eight shoppers also buys from the other department. */
const drawSuitability = (random: Random, style: Style, shopper: Shopper | null) =>
  shopper === null || style.gender === 'unisex' || style.gender === shopper.wears || random.chance(0.12)

/** Draws a size. Most shoppers buy their own size. */
function drawSku(random: Random, { sizes }: Colour, shopper: Shopper | null): Sku {
  const build = shopper && random.chance(0.8) ? shopper.build : (random.fraction() + random.fraction()) / 2
  return sizes[Math.floor(build * sizes.length)] as Sku
}

function createLine(random: Random, buyer: Buyer, style: Style, colour: Colour, sku: Sku): SoldLine {
  const isMarkedDown = colour.markedDown !== null && buyer.day >= colour.markedDown
  const price = isMarkedDown ? colour.price : style.price
  const discount = isMarkedDown ? null : findBestDiscount(buyer, style)
  const severalProbability = style.category.name === 'Socks' ? 0.45 : 0.05
  return {
    sku: sku.sku,
    productCode: style.code,
    productName: style.name,
    colourCode: colour.code,
    colourName: colour.name,
    sizeCode: sku.size,
    quantity: random.chance(severalProbability) ? random.integer(2, 3) : 1,
    price,
    discountCents: discount ? computePercentage(price, discount.percent) : 0,
    discount,
    sizes: colour.sizes,
  }
}

/** Returns the better of promotion and member discount. A promotion covers one style in three. */
function findBestDiscount({ day, onWeb, loyalty }: Buyer, style: Style): Discount | null {
  const promotion = Number(style.id) % 3 === 0 ? findPromotion(day) : undefined
  const memberPercent = loyalty?.discount ?? 0
  if (promotion && promotion.percent > memberPercent && (onWeb || !promotion.webOnly))
    return { type: 'promotion', reason: promotion.reason, percent: promotion.percent }
  return loyalty && memberPercent > 0
    ? { type: 'loyalty', reason: `${loyalty.name} member`, percent: memberPercent }
    : null
}
