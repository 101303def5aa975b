import { dayMs, formatDate, secondMs, type Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Person, Sku, Store, Transaction, TransactionLine } from '../shop/records.ts'
import type { LineStatus, Order, OrderLine } from '../shop/sales.ts'
import { createId, formatWebNumber, roundToCents, type Shop, sumAmounts } from '../shop/shop.ts'

interface SaleContext {
  today: Wall
  skus: readonly Sku[]
  shops: readonly Store[]
  web: Store
}

function makeSaleLine(shop: Shop, sku: Sku, quantity: number, random: Random): TransactionLine {
  const full = roundToCents(sku.price * quantity)
  const percent = quantity > 0 && random.chance(0.2) ? 15 : 0
  const amount = roundToCents((full * percent) / 100)
  return {
    id: createId(shop, 'line'),
    skuId: sku.id,
    quantity,
    price: sku.price,
    value: roundToCents(full - amount),
    taxPercent: 10,
    discounts: percent
      ? [{ id: createId(shop, 'line'), type: 'Discount', reason: 'POS Loyalty 1', amount, percent }]
      : [],
  }
}

const noCarrier = { carrier: '', carrierUrl: '', conNote: '', serviceType: '' }

/** Creates a sale at a till. */
function makeDocket(
  shop: Shop,
  personId: number | null,
  { today, skus, shops }: SaleContext,
  random: Random,
): Transaction {
  const store = random.pick(shops)
  const isReturn = random.chance(0.1)
  const lines = Array.from({ length: isReturn ? 1 : random.pick([1, 1, 2, 3]) }, () =>
    makeSaleLine(shop, random.pick(skus), isReturn ? -1 : random.pick([1, 1, 1, 2]), random),
  )
  return {
    id: createId(shop, 'transaction'),
    personId,
    orderNumber: '',
    ...noCarrier,
    number: `D${store.number}${String(createId(shop, 'docket')).padStart(8, '0')}`,
    type: random.chance(0.95) ? 'Sale' : random.pick(['Layby', 'Layby Update', 'Special Order'] as const),
    day: formatDate(today - random.integer(1, 700) * dayMs),
    storeId: store.id,
    currency: 'AUD',
    lines,
  }
}

function makeOrderLine(shop: Shop, sku: Sku, sequence: number, status: LineStatus, random: Random): OrderLine {
  const quantity = random.pick([1, 1, 1, 2, 3])
  return {
    id: createId(shop, 'line'),
    sequence,
    skuId: sku.id,
    quantity,
    price: sku.price,
    value: roundToCents(sku.price * quantity),
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

function makeWebOrder(shop: Shop, person: Person, { today, skus }: SaleContext, random: Random): Order {
  const placedAt = today - random.integer(0, 400) * dayMs - random.integer(1, 86_399) * secondMs
  const isOld = placedAt < today - 60 * dayMs
  const status = random.pick<LineStatus>(
    isOld ? ['Shipped', 'Shipped', 'Shipped', 'Cancelled'] : ['Processing', 'Shipped'],
  )
  const lines = Array.from({ length: random.pick([1, 2, 2, 3]) }, (_, i) =>
    makeOrderLine(shop, random.pick(skus), i, status, random),
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
    id: createId(shop, 'order'),
    number: formatWebNumber(createId(shop, 'orderNumber')),
    partnerOrderId: '',
    personId: person.id,
    placedAt,
    updated: Math.min(placedAt + random.integer(0, 2) * dayMs, today - secondMs),
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
        amount: sumAmounts(lines.map(line => line.value)),
        merchantId: 'SIMPAY',
        voucherNumber: '',
        validationId: '',
      },
    ],
    vouchersDue: 0,
    inWebTable: !isOld,
  }
}

/** Creates the transaction of a despatched order for its person's history. */
export function makeSale(order: Order, shop: Shop, storeId: number, when: Wall): Transaction {
  const [first] = order.lines
  return {
    id: createId(shop, 'transaction'),
    number: order.number,
    personId: order.personId,
    orderNumber: order.number,
    type: 'Sale',
    day: formatDate(when),
    storeId,
    currency: order.currency,
    serviceType: 'Road',
    carrier: first?.carrier ?? '',
    carrierUrl: first?.conNote ? `https://track.example.test/${first.conNote}` : '',
    conNote: first?.conNote ?? '',
    lines: order.lines.map(({ skuId, quantity, price, value, taxPercent }) => ({
      id: createId(shop, 'line'),
      skuId,
      quantity,
      price,
      value,
      taxPercent: taxPercent ?? 0,
      discounts: [],
    })),
  }
}

/** Creates up to six sales and two orders of each person, and ten unclaimed dockets. */
export function makeSales(shop: Shop, today: Wall, random: Random): void {
  const stores = [...shop.stores.values()]
  const context: SaleContext = {
    today,
    skus: [...shop.skus.values()].filter(sku => !sku.colour.style.special),
    shops: stores.filter(store => store.kind === 'shop'),
    web: stores.find(store => store.kind === 'web') ?? (stores[0] as Store),
  }
  for (const person of shop.persons.values()) {
    for (let i = random.pick([0, 0, 1, 2, 3, 6]); i > 0; i--)
      shop.transactions.push(makeDocket(shop, person.id, context, random))
    for (let i = random.pick([0, 0, 1, 2]); i > 0; i--) {
      const order = makeWebOrder(shop, person, context, random)
      shop.orders.set(order.id, order)
      if (order.lines[0]?.status === 'Shipped')
        shop.transactions.push(makeSale(order, shop, context.web.id, order.updated))
    }
  }
  for (let i = 0; i < 10; i++) shop.transactions.push(makeDocket(shop, null, context, random))
}
