import { isoText } from '../shop/clock.ts'
import type { Order, OrderLine, Payment } from '../shop/sales.ts'
import { cents, type Shop, sum } from '../shop/shop.ts'
import { array, type Element, el, fields } from '../xml/element.ts'
import { addressFields, contactsElement, currencyElement } from './person-xml.ts'

export const discountOf = (line: OrderLine) => sum(line.discounts.map(discount => discount.value))

/** The tax within an amount. */
export const taxIn = (amount: number, percent: number | null) => (percent ? (amount * percent) / (100 + percent) : 0)

interface Shown {
  /** The temporary table of web sales knows the order as it was posted, and nothing that came later. */
  asPosted: boolean
  lineWarehouse: boolean
}

export function lineElement(line: OrderLine, shop: Shop, { asPosted, lineWarehouse }: Shown): Element {
  const sku = shop.skus.get(line.skuId)
  const { colour } = sku ?? {}
  const shipped = !asPosted && ['Shipped', 'Returned', 'Completed'].includes(line.status)
  const conNote = asPosted ? '' : line.conNote
  return el('OrderDetail', [
    ...fields({ Id: line.id, Sequence: line.sequence, ProductId: colour?.style.id, ColourId: colour?.id }),
    ...fields({ SkuId: line.skuId, ProductCode: colour?.style.code, ProductName: colour?.style.name }),
    ...fields({ ColourCode: colour?.code, ColourName: colour?.name, SizeCode: sku?.size, Barcode: sku?.barcode }),
    ...fields({ Quantity: line.quantity, Price: line.price, Discount: discountOf(line), Value: line.value }),
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
    lineWarehouse ? el('WarehouseId', warehouseOf(shop)) : undefined,
  ])
}

/** The warehouse that ships web orders. */
export const warehouseOf = (shop: Shop): number =>
  [...shop.stores.values()].find(store => store.kind === 'warehouse')?.id ?? 0

export const paymentElement = (payment: Payment, id: number): Element =>
  el('PaymentDetail', [
    ...fields({ Id: id, Origin: payment.origin, CardType: payment.cardType, Stan: payment.stan }),
    ...fields({ AuthCode: payment.authCode, Reference: payment.reference, Message: payment.message }),
    ...fields({ MerchantId: payment.merchantId, VoucherNumber: payment.voucherNumber, Amount: payment.amount }),
  ])

export const dueOf = (order: Order) => sum(order.lines.map(line => line.value))

export function orderElement(order: Order, number: number, shop: Shop, shown: Shown, extras: Element[] = []): Element {
  const { lines, freight } = order
  const due = dueOf(order)
  const quantity = sum(lines.map(line => line.quantity))
  return el('Order', [
    ...fields({ Id: order.id, RowNumber: number, OrderNumber: order.number, PersonId: order.personId }),
    ...fields({ WarehouseId: warehouseOf(shop), OrderDateTime: isoText(order.placed), TotalQuantity: quantity }),
    ...fields({ TotalTax: cents(sum(lines.map(line => taxIn(line.value, line.taxPercent)))) }),
    ...fields({ TotalDiscount: sum(lines.map(discountOf)), TotalDue: due }),
    ...fields({ TotalPayment: sum(order.payments.map(payment => payment.amount)), PickupStoreId: order.pickupStoreId }),
    ...fields({ DeliveryInstructions: order.deliveryInstructions, DespatchType: order.despatchType }),
    el('Addresses', [el('Billing', addressFields(order.billing)), el('Delivery', addressFields(order.delivery))]),
    contactsElement('Contacts', order.contacts),
    contactsElement('DeliveryContacts', order.deliveryContacts),
    array(
      'OrderDetails',
      lines.map(line => lineElement(line, shop, shown)),
      { TotalRows: lines.length },
    ),
    el(
      'SelectedFreightOption',
      fields({ Id: freight?.id, Name: freight?.name, Value: freight?.value, TaxPercent: freight?.taxPercent }),
    ),
    array(
      'Payments',
      order.payments.map((payment, i) => paymentElement(payment, order.id * 10 + i)),
      { TotalRows: order.payments.length },
    ),
    currencyElement(order.currency),
    el('PricesIncludeTax', order.pricesIncludeTax),
    ...extras,
  ])
}
