import { computePaid, createBasketDraw, discontinued, type SoldLine } from './basket.ts'
import { type Day, firstDay, getWeekday, referenceDay } from './calendar.ts'
import type { Shopper } from './customers.ts'
import { type Place, shops, warehouse } from './places.ts'
import type { Style } from './products.ts'
import { createDraw, type Draw, type Random, randomFor } from './random.ts'
import { createMembership, type Tier } from './tiers.ts'
import { computeDailySales, drawBackOfficeSecond, drawShopSecond, drawWebSecond, isClosed } from './trading.ts'

export interface Sale {
  id: string
  number: string
  orderNumber: string | null
  channel: 'store' | 'web' | 'headOffice'
  type: 'sale' | 'layby'
  day: Day
  second: number
  shopper: Shopper | null
  /** Null for telephone and mail orders. */
  place: Place | null
  lines: SoldLine[]
  /** The buyer's tier, or null for buyers outside the program. */
  tier: Tier | null
  /** Cents that were refunded later. */
  refunded: number
}

/** A visit: a purchase, or the return of an earlier sale. */
interface Visit extends Pick<Sale, 'channel' | 'shopper' | 'place' | 'second'> {
  returnedSale: Sale | null
}

/** Number of sales without the later returns. */
const purchaseCount = 18_850
const returnShare = 0.083
const anonymousShare = 0.23

/** Creates the sales of three years in chronological order, and the memberships at their end. */
export function makeSales(styles: readonly Style[], shoppers: readonly Shopper[]) {
  const random = randomFor('sales')
  const drawBasket = createBasketDraw(random, styles)
  const drawVisitOfDay = createVisitDraw(random, shoppers)
  const members = new Map(
    shoppers.flatMap(shopper =>
      shopper.joined === null ? [] : [[shopper, createMembership(shopper.joined)] as const],
    ),
  )
  const returnsByDay = new Map<Day, Sale[]>()
  const sales: Sale[] = []
  const receipts = new Map<string, number>()
  let orders = 0
  let purchaseNumber = 0

  const addSale = (day: Day, visit: Visit) => {
    const { shopper, channel, place, returnedSale } = visit
    const member = shopper && members.get(shopper)
    const tier = member && member.since <= day ? member.getTier(day) : null
    const onWeb = channel === 'web'
    const lines = returnedSale
      ? drawReturnLines(random, returnedSale)
      : drawBasket({ shopper, day, onWeb, loyalty: tier })
    if (!returnedSale && discontinuedPurchases.has(++purchaseNumber)) lines.push(discontinued)
    const counter = place?.number ?? '000'
    const number = (receipts.get(counter) ?? 0) + 1
    receipts.set(counter, number)
    const sale: Sale = {
      id: String(200_001 + sales.length),
      number: `R${counter}${String(number).padStart(6, '0')}`,
      orderNumber: onWeb && !returnedSale ? `W${String(++orders).padStart(7, '0')}` : null,
      channel,
      type: 'sale',
      day,
      second: visit.second,
      shopper,
      place,
      lines,
      tier,
      refunded: 0,
    }
    const value = lines.reduce((sum, line) => sum + computePaid(line), 0)
    if (channel === 'store' && shopper && !returnedSale && value > 20_000 && random.chance(0.025)) sale.type = 'layby'
    sales.push(sale)
    if (tier) member?.addPurchase(day, value)
    if (returnedSale) returnedSale.refunded -= value
    else if (shopper && sale.type === 'sale' && random.chance(returnShare)) {
      const returnDay = toOpenDay(day + random.integer(2, 28))
      if (returnDay <= referenceDay) returnsByDay.set(returnDay, [...(returnsByDay.get(returnDay) ?? []), sale])
    }
  }

  computeDailySales(purchaseCount).forEach((count, i) => {
    const day = firstDay + i
    const visits: Visit[] = Array.from({ length: count }, () => drawVisitOfDay(day))
    for (const sale of returnsByDay.get(day) ?? []) visits.push(drawReturnVisit(random, day, sale))
    visits.sort((a, b) => a.second - b.second)
    for (const visit of visits) addSale(day, visit)
  })
  return { sales, members }
}

/** The numbers of the purchases that contain a discontinued item. */
const discontinuedPurchases = new Set([41, 97])

const toOpenDay = (day: Day): Day => (isClosed(day) ? day + 1 : day)

/** Returns a function that draws a visit on a day by a new customer, an earlier customer, or an anonymous passer-by. */
function createVisitDraw(random: Random, shoppers: readonly Shopper[]): (day: Day) => Visit {
  const shopperDraw = createDraw(shoppers.map(shopper => shopper.keenness))
  const shopDraw: Draw = createDraw(shops.map(shop => shop.weight))
  const newcomers: Shopper[] = []
  let joined = 0
  return day => {
    for (; joined < shoppers.length && (shoppers[joined] as Shopper).started <= day; joined++) {
      const shopper = shoppers[joined] as Shopper
      if (shopper.started === day && !isClosed(day) && random.chance(0.75)) newcomers.push(shopper)
    }
    const newcomer = newcomers.shift()
    if (newcomer) return drawVisit(random, day, newcomer, shopDraw)
    const isPasserBy = random.chance(anonymousShare) && !isClosed(day)
    return drawVisit(
      random,
      day,
      isPasserBy ? null : (shoppers[shopperDraw.index(random, joined)] as Shopper),
      shopDraw,
    )
  }
}

/** Draws the channel of a visit: web, telephone, or mostly the nearest shop. */
function drawVisit(random: Random, day: Day, shopper: Shopper | null, shopDraw: Draw): Visit {
  if (shopper && (isClosed(day) || random.chance(shopper.webShare)))
    return { shopper, channel: 'web', place: warehouse, second: drawWebSecond(random), returnedSale: null }
  const weekday = getWeekday(day)
  if (shopper && weekday > 0 && weekday < 6 && random.chance(0.025))
    return { shopper, channel: 'headOffice', place: null, second: drawBackOfficeSecond(random), returnedSale: null }
  const place = shopper && random.chance(0.86) ? shopper.home : (shops[shopDraw.index(random)] as Place)
  return { shopper, channel: 'store', place, second: drawShopSecond(random, day, place), returnedSale: null }
}

/** Draws the return of a sale. Web orders return to the warehouse or to the nearest shop, other sales to their shop. */
function drawReturnVisit(random: Random, day: Day, sale: Sale): Visit {
  const { shopper } = sale
  const home = (sale.place === warehouse ? null : sale.place) ?? shopper?.home ?? null
  if (home === null || (sale.channel === 'web' && random.chance(0.55)))
    return { shopper, channel: 'web', place: warehouse, second: drawWebSecond(random), returnedSale: sale }
  return { shopper, channel: 'store', place: home, second: drawShopSecond(random, day, home), returnedSale: sale }
}

/** Draws the lines of a return, at the price paid. One in four items is exchanged for another size. */
function drawReturnLines(random: Random, sale: Sale): SoldLine[] {
  const returnable = sale.lines.filter(line => line.sku !== null)
  const lines = random.chance(0.3) ? returnable : [random.pick(returnable)]
  return lines.flatMap(line => {
    const quantity = random.integer(1, line.quantity)
    const otherSizes = line.sizes.filter(size => size.size !== line.sizeCode)
    const returnLine = { ...line, quantity: -quantity }
    if (otherSizes.length === 0 || !random.chance(0.25)) return [returnLine]
    const newSize = random.pick(otherSizes)
    return [returnLine, { ...line, quantity, sku: newSize.sku, sizeCode: newSize.size }]
  })
}
