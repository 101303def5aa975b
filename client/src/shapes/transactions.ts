// Generated from the OpenAPI document by `npm run docs`.
import type { Open } from './general.ts'
import type { TaxLine } from './orders.ts'

export interface RetailTransaction {
  /** The back office's ID of the transaction. */
  id: string
  /** The number printed on the receipt. */
  number: string | null
  /** The number of the order that this sale fulfilled. */
  orderNumber: string | null
  /** The sales channel. `headOffice` is telephone and mail order. */
  channel: Open<'store' | 'headOffice' | 'web'>
  /** The type of transaction. */
  type: Open<'sale' | 'layby' | 'laybyUpdate' | 'specialOrder' | 'specialOrderUpdate'>
  /** When the sale was made. */
  saleDate: string
  /** The shopper. */
  customerId: string | null
  /** The store that sold it. */
  storeNumber: string | null
  /** The name of the store when it was sold. */
  storeName: string | null
  /** ISO 4217. */
  currency: string
  /** The sum of the lines. */
  total: string
  lines: TransactionLine[]
  /** Sales taxes on top of `total`. Absent if the prices include tax, or if the source has no taxes. */
  taxLines?: TaxLine[]
  /** The carrier. */
  carrier?: string
  /** The tracking number of the parcel. */
  trackingNumber?: string
  /** The page of the carrier that tracks the parcel. */
  trackingUrl?: string
  /** When the record last changed. */
  updateTimeStamp: string
}

export interface TransactionLine {
  /** The ID of the line, unique in its transaction. */
  id: string
  /** The position of the line in the transaction. */
  sequence: number | null
  /** The e-commerce SKU. Null if the sold item no longer exists. */
  sku: string | null
  /** The style code. */
  productCode: string | null
  /** The name of the style when it was sold. */
  productName: string | null
  /** The code of the colour. */
  colourCode: string | null
  /** The name of the colour. */
  colourName: string | null
  /** The size. */
  sizeCode: string | null
  /** Units sold, with up to three decimals for weighed or measured goods. Negative for a return. */
  quantity: number
  /** The price of one unit before discounts, with the currency's decimals, or up to four if it is finer. */
  price: string
  /** The amount paid for the line. Negative for a return. */
  value: string
  /** The tax rate in per cent. */
  taxPercent: string | null
  discounts: TransactionDiscount[]
}

export interface TransactionDiscount {
  /** The type of discount. */
  type: string
  /** The reason for the discount. */
  reason: string | null
  /** The amount of the discount. */
  amount: string
  /** The discount in per cent. */
  percentage: string | null
}
