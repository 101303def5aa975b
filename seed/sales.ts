import { baskets, discontinued, paid, type SoldLine } from './basket.ts'
import { type Day, firstDay, referenceDay, weekdayOf } from './calendar.ts'
import type { Shopper } from './customers.ts'
import { type Place, shops, warehouse } from './places.ts'
import type { Style } from './products.ts'
import { type Draw, drawBy, type Random, randomFor } from './random.ts'
import { membership, type Tier } from './tiers.ts'
import { isClosed, salesByDay, secondAtHeadOffice, secondInShop, secondOnWeb } from './trading.ts'

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

/** A future visit: the first purchase, or the return of an earlier one. */
interface Refresh extends Pick<Sale, 'channel' | 'shopper' | 'place' | 'second'> {
  returning: Sale | null
}

/** Sales without returns. About one in sixteen gets one. */
const purchases = 18_850
const returned = 0.083
const anonymous = 0.23

/** Three years of trade in the order of time, and the members' accounts afterwards. */
export function makeSales(styles: readonly Style[], shoppers: readonly Shopper[]) {
  const random = randomFor('sales')
  const basket = baskets(random, styles)
  const visitors = visitorsOf(random, shoppers)
  const members = new Map(
    shoppers.flatMap(shopper => (shopper.joined === null ? [] : [[shopper, membership(shopper.joined)] as const])),
  )
  const due = new Map<Day, Sale[]>()
  const sales: Sale[] = []
  const receipts = new Map<string, number>()
  let orders = 0
  let bought = 0

  const trade = (day: Day, visit: Refresh) => {
    const { shopper, channel, place, returning } = visit
    const member = shopper && members.get(shopper)
    const tier = member && member.since <= day ? member.tierOn(day) : null
    const onWeb = channel === 'web'
    const lines = returning ? bringBack(random, returning) : basket({ shopper, day, onWeb, loyalty: tier })
    if (!returning && discontinuedIn.has(++bought)) lines.push(discontinued)
    const counter = place?.number ?? '000'
    const number = (receipts.get(counter) ?? 0) + 1
    receipts.set(counter, number)
    const sale: Sale = {
      id: String(200_001 + sales.length),
      number: `R${counter}${String(number).padStart(6, '0')}`,
      orderNumber: onWeb && !returning ? `W${String(++orders).padStart(7, '0')}` : null,
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
    const value = lines.reduce((sum, line) => sum + paid(line), 0)
    if (channel === 'store' && shopper && !returning && value > 20_000 && random.chance(0.025)) sale.type = 'layby'
    sales.push(sale)
    if (tier) member?.spend(day, value)
    if (returning) returning.refunded -= value
    else if (shopper && sale.type === 'sale' && random.chance(returned)) {
      const back = openDay(day + random.integer(2, 28))
      if (back <= referenceDay) due.set(back, [...(due.get(back) ?? []), sale])
    }
  }

  salesByDay(purchases).forEach((count, i) => {
    const day = firstDay + i
    const visits: Refresh[] = Array.from({ length: count }, () => visitors(day))
    for (const sale of due.get(day) ?? []) visits.push(returnVisit(random, day, sale))
    visits.sort((a, b) => a.second - b.second)
    for (const visit of visits) trade(day, visit)
  })
  return { sales, members }
}

/** Returns the purchases that contain a discontinued item. */
const discontinuedIn = new Set([41, 97])

const openDay = (day: Day): Day => (isClosed(day) ? day + 1 : day)

/** Draws the visitors of a day: new customers, earlier customers by their frequency, and passers-by. */
function visitorsOf(random: Random, shoppers: readonly Shopper[]): (day: Day) => Refresh {
  const keen = drawBy(shoppers.map(shopper => shopper.keenness))
  const busy: Draw = drawBy(shops.map(shop => shop.weight))
  const newcomers: Shopper[] = []
  let joined = 0
  return day => {
    for (; joined < shoppers.length && (shoppers[joined] as Shopper).started <= day; joined++) {
      const shopper = shoppers[joined] as Shopper
      if (shopper.started === day && !isClosed(day) && random.chance(0.75)) newcomers.push(shopper)
    }
    const newcomer = newcomers.shift()
    if (newcomer) return visitOf(random, day, newcomer, busy)
    const passer = random.chance(anonymous) && !isClosed(day)
    return visitOf(random, day, passer ? null : (shoppers[keen.index(random, joined)] as Shopper), busy)
  }
}

/** Draws the channel: web, telephone, or mostly the nearest shop. */
function visitOf(random: Random, day: Day, shopper: Shopper | null, busy: Draw): Refresh {
  if (shopper && (isClosed(day) || random.chance(shopper.onWeb)))
    return { shopper, channel: 'web', place: warehouse, second: secondOnWeb(random), returning: null }
  const weekday = weekdayOf(day)
  if (shopper && weekday > 0 && weekday < 6 && random.chance(0.025))
    return { shopper, channel: 'headOffice', place: null, second: secondAtHeadOffice(random), returning: null }
  const place = shopper && random.chance(0.86) ? shopper.home : (shops[busy.index(random)] as Place)
  return { shopper, channel: 'store', place, second: secondInShop(random, day, place), returning: null }
}

/** Returns the place of a return: by post if the order came by post, or the nearest shop. */
function returnVisit(random: Random, day: Day, sale: Sale): Refresh {
  const { shopper } = sale
  const home = (sale.place === warehouse ? null : sale.place) ?? shopper?.home ?? null
  if (home === null || (sale.channel === 'web' && random.chance(0.55)))
    return { shopper, channel: 'web', place: warehouse, second: secondOnWeb(random), returning: sale }
  return { shopper, channel: 'store', place: home, second: secondInShop(random, day, home), returning: sale }
}

/** Draws the returned part at the price paid. One in four buyers takes another size instead. */
function bringBack(random: Random, sale: Sale): SoldLine[] {
  const returnable = sale.lines.filter(line => line.sku !== null)
  const lines = random.chance(0.3) ? returnable : [random.pick(returnable)]
  return lines.flatMap(line => {
    const quantity = random.integer(1, line.quantity)
    const otherSizes = line.sizes.filter(size => size.size !== line.sizeCode)
    const back = { ...line, quantity: -quantity }
    if (otherSizes.length === 0 || !random.chance(0.25)) return [back]
    const newSize = random.pick(otherSizes)
    return [back, { ...line, quantity, sku: newSize.sku, sizeCode: newSize.size }]
  })
}
