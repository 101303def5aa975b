import { formatIso } from '../shop/clock.ts'
import type { Order, OrderLine, Payment } from '../shop/sales.ts'
import { roundToCents, type Shop, sumAmounts } from '../shop/shop.ts'
import { array, type Element, el, fields } from '../xml/element.ts'
import { buildAddressFields, buildContacts, buildCurrency } from './person-xml.ts'

export const sumDiscounts = (line: OrderLine) => sumAmounts(line.discounts.map(discount => discount.value))

/** Returns the tax that an amount includes. */
export const computeTax = (amount: number, percent: number | null) =>
  percent ? (amount * percent) / (100 + percent) : 0

interface LineOptions {
  /** True if the order is read from the temporary table of web sales, which contains it as posted. */
  asPosted: boolean
  lineWarehouse: boolean
}

export function buildOrderLine(line: OrderLine, shop: Shop, { asPosted, lineWarehouse }: LineOptions): Element {
  const sku = shop.skus.get(line.skuId)
  const { colour } = sku ?? {}
  const shipped = !asPosted && ['Shipped', 'Returned', 'Completed'].includes(line.status)
  const conNote = asPosted ? '' : line.conNote
  return el('OrderDetail', [
    ...fields({ Id: line.id, Sequence: line.sequence, ProductId: colour?.style.id, ColourId: colour?.id }),
    ...fields({ SkuId: line.skuId, ProductCode: colour?.style.code, ProductName: colour?.style.name }),
    ...fields({ ColourCode: colour?.code, ColourName: colour?.name, SizeCode: sku?.size, Barcode: sku?.barcode }),
    ...fields({ Quantity: line.quantity, Price: line.price, Discount: sumDiscounts(line), Value: line.value }),
    line.taxPercent === null ? el('TaxPercent', undefined, { 'xsi:nil': 'true' }) : el('TaxPercent', line.taxPercent),
    array(
      'Discounts',
      line.discounts.map((discount, i) =>
        el('Discount', [
          ...fields({ Id: line.id * 10 + i, Sequence: i + 1, DiscountTypeId: discount.typeId }),
          ...fields({ Description: discount.description, Value: discount.value }),
        ]),
      ),
      { TotalRows: line.discounts.length },
    ),
    ...fields({ QuantityTaken: shipped ? line.quantity : 0, QuantityPacked: shipped ? line.quantity : 0 }),
    ...fields({ ReturnReasonId: line.returnReasonId, ReturnReasonNotes: line.returnReasonNotes }),
    ...fields({ GiftWrap: line.giftWrap, GiftWrapMessage: line.giftWrapMessage }),
    ...fields({ SenderName: line.senderName, ReceiverName: line.receiverName, Carrier: line.carrier }),
    ...fields({ CarrierUrl: conNote && `https://track.example.test/${conNote}`, ConNote: conNote }),
    el('Status', asPosted ? 'Processing' : line.status),
    el('ServiceType', fields({ Id: '', Code: '' })),
    lineWarehouse ? el('WarehouseId', findWarehouseId(shop)) : undefined,
  ])
}

/** Returns the ID of the warehouse that ships web orders, or 0. */
export const findWarehouseId = (shop: Shop): number =>
  [...shop.stores.values()].find(store => store.kind === 'warehouse')?.id ?? 0

export const buildPayment = (payment: Payment, id: number): Element =>
  el('PaymentDetail', [
    ...fields({ Id: id, Origin: payment.origin, CardType: payment.cardType, Stan: payment.stan }),
    ...fields({ AuthCode: payment.authCode, Reference: payment.reference, Message: payment.message }),
    ...fields({ MerchantId: payment.merchantId, VoucherNumber: payment.voucherNumber, Amount: payment.amount }),
  ])

export const computeDue = (order: Order) => sumAmounts(order.lines.map(line => line.value))

export function buildOrder(
  order: Order,
  number: number,
  shop: Shop,
  options: LineOptions,
  extras: Element[] = [],
): Element {
  const { lines, freight } = order
  const due = computeDue(order)
  const quantity = sumAmounts(lines.map(line => line.quantity))
  return el('Order', [
    ...fields({ Id: order.id, RowNumber: number, OrderNumber: order.number, PersonId: order.personId }),
    ...fields({
      WarehouseId: findWarehouseId(shop),
      OrderDateTime: formatIso(order.placedAt),
      TotalQuantity: quantity,
    }),
    ...fields({ TotalTax: roundToCents(sumAmounts(lines.map(line => computeTax(line.value, line.taxPercent)))) }),
    ...fields({ TotalDiscount: sumAmounts(lines.map(sumDiscounts)), TotalDue: due }),
    ...fields({
      TotalPayment: sumAmounts(order.payments.map(payment => payment.amount)),
      PickupStoreId: order.pickupStoreId,
    }),
    ...fields({ DeliveryInstructions: order.deliveryInstructions, DespatchType: order.despatchType }),
    el('Addresses', [
      el('Billing', buildAddressFields(order.billing)),
      el('Delivery', buildAddressFields(order.delivery)),
    ]),
    buildContacts('Contacts', order.contacts),
    buildContacts('DeliveryContacts', order.deliveryContacts),
    array(
      'OrderDetails',
      lines.map(line => buildOrderLine(line, shop, options)),
      { TotalRows: lines.length },
    ),
    el(
      'SelectedFreightOption',
      fields({ Id: freight?.id, Name: freight?.name, Value: freight?.value, TaxPercent: freight?.taxPercent }),
    ),
    array(
      'Payments',
      order.payments.map((payment, i) => buildPayment(payment, order.id * 10 + i)),
      { TotalRows: order.payments.length },
    ),
    buildCurrency(order.currency),
    el('PricesIncludeTax', order.pricesIncludeTax),
    ...extras,
  ])
}
