// Made of the operations of the API by `npm run docs`.
import type { Open } from './general.ts'

export interface RetailTransaction {
  /** The back office's identifier of the transaction. */
  id: string
  /** The number printed on the receipt. */
  number: string | null
  /** The order that was fulfilled by this sale. */
  orderNumber: string | null
  /** Where it was sold; `headOffice` is telephone and mail. */
  channel: Open<'store' | 'headOffice' | 'web'>
  /** What kind of transaction it is. */
  type: Open<'sale' | 'layby' | 'laybyUpdate' | 'specialOrder' | 'specialOrderUpdate'>
  /** When it was sold. */
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
  /** When the record last changed. */
  updateTimeStamp: string
}

export interface TransactionLine {
  /** The identifier of the line, unique in its transaction. */
  id: string
  /** Where the line stands in the transaction. */
  sequence: number | null
  /** The e-commerce SKU; null where the sold item is no longer known. */
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
  /** Units sold, with up to three decimals where it is weighed or measured; negative for a return. */
  quantity: number
  /** The price of one unit, before discounts: with the currency's decimals, or up to four where it is finer. */
  price: string
  /** What was paid for the line; negative for a return. */
  value: string
  /** Tax, in per cent. */
  taxPercent: string | null
  discounts: TransactionDiscount[]
}

export interface TransactionDiscount {
  /** Why there was a discount. */
  type: string
  /** The reason in words. */
  reason: string | null
  /** The amount taken off. */
  amount: string
  /** The same in per cent. */
  percentage: string | null
}
