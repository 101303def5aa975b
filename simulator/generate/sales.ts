import { dateText, day, second, type Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Person, Sku, Store, Transaction, TransactionLine } from '../shop/records.ts'
import type { LineStatus, Order, OrderLine } from '../shop/sales.ts'
import { cents, next, type Shop, sum, webNumber } from '../shop/shop.ts'

interface Drawn {
  today: Wall
  skus: readonly Sku[]
  shops: readonly Store[]
  web: Store
}

function saleLine(shop: Shop, sku: Sku, quantity: number, random: Random): TransactionLine {
  const full = cents(sku.price * quantity)
  const percent = quantity > 0 && random.chance(0.2) ? 15 : 0
  const amount = cents((full * percent) / 100)
  return {
    id: next(shop, 'line'),
    skuId: sku.id,
    quantity,
    price: sku.price,
    value: cents(full - amount),
    taxPercent: 10,
    discounts: percent ? [{ id: next(shop, 'line'), type: 'Discount', reason: 'POS Loyalty 1', amount, percent }] : [],
  }
}

const noCarrier = { carrier: '', carrierUrl: '', conNote: '', serviceType: '' }

/** A sale at a till. */
function docket(shop: Shop, personId: number | null, { today, skus, shops }: Drawn, random: Random): Transaction {
  const store = random.pick(shops)
  const isReturn = random.chance(0.1)
  const lines = Array.from({ length: isReturn ? 1 : random.pick([1, 1, 2, 3]) }, () =>
    saleLine(shop, random.pick(skus), isReturn ? -1 : random.pick([1, 1, 1, 2]), random),
  )
  return {
    id: next(shop, 'transaction'),
    personId,
    orderNumber: '',
    ...noCarrier,
    number: `D${store.number}${String(next(shop, 'docket')).padStart(8, '0')}`,
    type: random.chance(0.95) ? 'Sale' : random.pick(['Layby', 'Layby Update', 'Special Order'] as const),
    day: dateText(today - random.integer(1, 700) * day),
    storeId: store.id,
    currency: 'AUD',
    lines,
  }
}

function orderLine(shop: Shop, sku: Sku, sequence: number, status: LineStatus, random: Random): OrderLine {
  const quantity = random.pick([1, 1, 1, 2, 3])
  return {
    id: next(shop, 'line'),
    sequence,
    skuId: sku.id,
    quantity,
    price: sku.price,
    value: cents(sku.price * quantity),
    taxPercent: 10,
    discounts: [],
    customisation: '',
    giftWrap: false,
    giftWrapMessage: '',
    senderName: '',
    receiverName: '',
    returnReasonId: '',
    returnReasonNotes: '',
    status,
    carrier: 'EMS',
    conNote: status === 'Shipped' ? `EM${String(random.integer(0, 9_999_999)).padStart(7, '0')}` : '',
  }
}

function webOrder(shop: Shop, person: Person, { today, skus }: Drawn, random: Random): Order {
  const placed = today - random.integer(0, 400) * day - random.integer(1, 86_399) * second
  const isOld = placed < today - 60 * day
  const status = random.pick<LineStatus>(
    isOld ? ['Shipped', 'Shipped', 'Shipped', 'Cancelled'] : ['Processing', 'Shipped'],
  )
  const lines = Array.from({ length: random.pick([1, 2, 2, 3]) }, (_, i) =>
    orderLine(shop, random.pick(skus), i, status, random),
  )
  const { email, home, mobile, work } = person
  const contacts = { email: email || 'nobody@example.test', home, mobile, work }
  const payment = {
    origin: 'CreditCard',
    cardType: 'VISA',
    stan: String(random.integer(1e6, 9e6)),
    reference: '',
    authCode: '',
    message: '',
  }
  return {
    id: next(shop, 'order'),
    number: webNumber(next(shop, 'orderNumber')),
    partnerOrderId: '',
    personId: person.id,
    placed,
    updated: Math.min(placed + random.integer(0, 2) * day, today - second),
    currency: 'AUD',
    pricesIncludeTax: true,
    needReview: '',
    reviewNotes: '',
    pickupStoreId: '',
    despatchType: '',
    deliveryInstructions: '',
    billing: person.billing,
    delivery: { ...person.billing, contactName: `${person.firstname} ${person.surname}`.trim() },
    contacts,
    deliveryContacts: { email: '', home: '', mobile: '', work: '' },
    lines,
    membershipNumber: '',
    payments: [
      {
        ...payment,
        amount: sum(lines.map(line => line.value)),
        merchantId: 'SIMPAY',
        voucherNumber: '',
        validationId: '',
      },
    ],
    vouchersDue: 0,
    inWebTable: !isOld,
  }
}

/** The entry of a despatched order in its person's history. */
export function saleOf(order: Order, shop: Shop, storeId: number, when: Wall): Transaction {
  const [first] = order.lines
  return {
    id: next(shop, 'transaction'),
    number: order.number,
    personId: order.personId,
    orderNumber: order.number,
    type: 'Sale',
    day: dateText(when),
    storeId,
    currency: order.currency,
    serviceType: 'Road',
    carrier: first?.carrier ?? '',
    carrierUrl: first?.conNote ? `https://track.example.test/${first.conNote}` : '',
    conNote: first?.conNote ?? '',
    lines: order.lines.map(({ skuId, quantity, price, value, taxPercent }) => ({
      id: next(shop, 'line'),
      skuId,
      quantity,
      price,
      value,
      taxPercent: taxPercent ?? 0,
      discounts: [],
    })),
  }
}

/** Purchases of all persons: none for some, many for others, and a few unclaimed dockets. */
export function makeSales(shop: Shop, today: Wall, random: Random): void {
  const stores = [...shop.stores.values()]
  const drawn: Drawn = {
    today,
    skus: [...shop.skus.values()].filter(sku => !sku.colour.style.special),
    shops: stores.filter(store => store.kind === 'shop'),
    web: stores.find(store => store.kind === 'web') ?? (stores[0] as Store),
  }
  for (const person of shop.persons.values()) {
    for (let i = random.pick([0, 0, 1, 2, 3, 6]); i > 0; i--)
      shop.transactions.push(docket(shop, person.id, drawn, random))
    for (let i = random.pick([0, 0, 1, 2]); i > 0; i--) {
      const order = webOrder(shop, person, drawn, random)
      shop.orders.set(order.id, order)
      if (order.lines[0]?.status === 'Shipped') shop.transactions.push(saleOf(order, shop, drawn.web.id, order.updated))
    }
  }
  for (let i = 0; i < 10; i++) shop.transactions.push(docket(shop, null, drawn, random))
}
