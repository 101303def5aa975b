// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'
import type { Discount } from './returns.ts'

export interface OrderInput {
  /** The number of the order, unique in the service. */
  orderNumber?: string | null | undefined
  /** The shopper. */
  customerId: string
  /** The store where the shopper collects the goods. */
  pickupStoreNumber?: string | null | undefined
  billingAddress: PostalAddress
  deliveryAddress: PostalAddress
  /** What is bought. */
  lines: OrderLineInput[]
  /** What the delivery costs. */
  freight?: string | null | undefined
  /** How it is paid: together exactly what is due. */
  payments: OrderPaymentInput[]
}

export interface PostalAddress {
  /** Who is to be asked for. */
  contactName?: string | null | undefined
  /** The company. */
  companyName?: string | null | undefined
  /** Street and number. */
  addressLine1: string
  /** Floor, unit or building. */
  addressLine2?: string | null | undefined
  /** City or suburb. */
  city: string
  /** State, province or county. */
  state?: string | null | undefined
  /** Post code. */
  postcode?: string | null | undefined
  /** Country. */
  country: string
}

export interface OrderLineInput {
  /** The e-commerce SKU. */
  sku: string
  /** Units sold. */
  quantity: number
  /** The price of one unit. It is worked out again, and has to be the same. */
  price?: string | null | undefined
  /** What is taken off; no more than the line costs. */
  discounts?: DiscountInput[] | null | undefined
}

export interface DiscountInput {
  /** Why there is a discount. */
  type: string
  /** The reason in words. */
  reason?: string | null | undefined
  /** The amount taken off the line. */
  amount: string
  /** The same in per cent. */
  percentage?: string | null | undefined
}

export interface OrderPaymentInput {
  /** The payment gateway, as `GET /payment-gateways` names it. */
  gateway: string
  /** What is paid with it. */
  amount: string
  /** The gateway's reference. */
  reference?: string | null | undefined
  voucher?: VoucherPayment | null | undefined
}

/** The gift voucher that this payment draws from. */
export interface VoucherPayment {
  /** The number of the gift voucher that pays. */
  number: string
  /** The `validationId` that `POST /vouchers/validate` gave. */
  validationId: string
}

export interface ReturnInput {
  /** The number of the return, unique in the service. */
  returnNumber?: string | null | undefined
  /** What comes back; the same SKU may stand in several lines. */
  lines: ReturnLineInput[]
  /** Whether the goods can be sold again. */
  restock?: boolean | null | undefined
}

export interface ReturnLineInput {
  /** The e-commerce SKU. */
  sku: string
  /** Units that come back; all that is left where none are named. */
  quantity?: number | null | undefined
  /** Why, as `GET /return-reasons` has it; the setting `defaultReturnReason` where none is named. */
  reasonCode?: string | null | undefined
  /** What the shopper said; may have several lines. */
  notes?: string | null | undefined
}

export interface Order {
  /** The identifier of the order. */
  id: string
  /** The number of the order, unique in the service. */
  orderNumber: string
  /** The shopper; null once they were erased. */
  customerId: string | null
  /** The store where the shopper collects the goods. */
  pickupStoreNumber: string | null
  billingAddress: OrderAddress
  deliveryAddress: OrderAddress
  /** ISO 4217. */
  currency: string
  lines: OrderLine[]
  /** What the delivery costs. */
  freight: string
  /** What was due: the lines and the freight. */
  total: string
  payments: OrderPayment[]
  /** When it was placed. */
  placedAt: string
  /** When it last changed. */
  updateTimeStamp: string
}

export interface OrderAddress {
  /** Who is to be asked for. */
  contactName: string | null
  /** The company. */
  companyName: string | null
  /** Street and number. */
  addressLine1: string | null
  /** Floor, unit or building. */
  addressLine2: string | null
  /** City or suburb. */
  city: string | null
  /** State, province or county. */
  state: string | null
  /** Post code. */
  postcode: string | null
  /** Country. */
  country: string | null
}

export interface OrderLine {
  /** The identifier of the line, unique in its order. */
  id: string
  /** Where the line stands in the order. */
  sequence: number
  /** The e-commerce SKU. */
  sku: string
  /** The style code. */
  productCode: string
  /** The name of the style when it was sold. */
  productName: string
  /** The code of the colour. */
  colourCode: string | null
  /** The name of the colour. */
  colourName: string | null
  /** The size. */
  sizeCode: string
  /** Units sold. */
  quantity: number
  /** Units that came back, or are about to. */
  returned: number
  /** The price of one unit, before discounts. */
  price: string
  discounts: Discount[]
  /** What was paid for the line. */
  value: string
  /** Where the line stands; `returned` once all of it is. */
  status: Open<'processing' | 'shipped' | 'cancelled' | 'returned'>
}

export interface OrderPayment {
  /** The payment gateway, as `GET /payment-gateways` names it. */
  gateway: string
  /** What is paid with it. */
  amount: string
  /** The gateway's reference. */
  reference: string | null
  /** The number of the gift voucher that pays. */
  voucherNumber: string | null
}

export interface Returnable {
  /** The e-commerce SKU. */
  sku: string
  /** Units that were shipped. */
  sold: number
  /** Units that came back, or are about to. */
  returned: number
  /** Units that can still be returned. */
  returnable: number
}
