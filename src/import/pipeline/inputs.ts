import { fullConsent, getConsentInput } from '../../domain/customers/consent.ts'
import type { TransactionParts } from '../../domain/orders/merge-lines.ts'
import type { Row } from './ingest.ts'

/** The given ones of these columns, each under the name that the store knows it by. */
function pick(row: Row, names: Readonly<Record<string, string>>) {
  const picked: Record<string, unknown> = {}
  for (const name in names) {
    const value = row[name]
    if (value !== undefined) picked[names[name] as string] = value
  }
  return picked
}

const asNamed = (...names: string[]) => Object.fromEntries(names.map(name => [name, name]))

/** The row with `references` under the name of its column, and with the subscriptions that it ends without naming them. */
export function customerFrom({ references, ...row }: Row) {
  return { ...row, ...getConsentInput(fullConsent, row), referenceValues: references }
}

export const customerMappingFrom = ({ customerId, ...row }: Row) => ({ id: customerId, ...row })

const product = {
  ...asNamed('productId', 'productCode', 'name', 'description', 'sizeRange', 'updateTimeStamp'),
  references: 'referenceValues',
}
const colour = {
  ...asNamed('productId', 'colourId', 'ecommerceProductId', 'markdownStatus'),
  colourCode: 'code',
  colourName: 'name',
}
const variant = asNamed(
  ...['productId', 'colourId', 'skuId', 'sku', 'sizeCode', 'sequence', 'originalPrice', 'price', 'barcode'],
)

/** A colour/size, in the parts that the tables hold. */
export const productFrom = (row: Row) => ({
  product: pick(row, product),
  colour: pick(row, colour),
  variant: pick(row, variant),
})

const program = { ...asNamed('programId', 'description'), programName: 'name' }
const tier = {
  ...asNamed('programId', 'tierId', 'accrualSpend', 'accrualPoints', 'autoRewardPointThreshold', 'autoRewardValue'),
  ...asNamed('qualifySpend', 'qualifyMonths', 'qualifyDays', 'pointsExpiryMonths', 'pointsExpiryDays'),
  ...asNamed('rewardExpiryMonths', 'rewardExpiryDays'),
  tierName: 'name',
  tierSequence: 'sequence',
}

/** A tier and its programme. */
export const programFrom = (row: Row) => ({ program: pick(row, program), tier: pick(row, tier) })

const header = asNamed('id', 'number', 'orderNumber', 'channel', 'type', 'saleDate', 'customerId', 'storeNumber')
const line = {
  ...asNamed('sequence', 'productCode', 'productName', 'colourCode', 'colourName', 'sizeCode'),
  ...asNamed('quantity', 'price', 'value', 'taxPercent'),
  lineId: 'id',
}

const dated = asNamed('updateTimeStamp')

/** What a transaction's row is looked up for: the names of stores, and the e-commerce SKUs. */
export interface Names {
  store(number: string): string | null
  /** The SKU that a row names by `skuId`, else by `sku`; null where no product carries it. */
  sku(row: Row): string | null
}

/** A line, and the transaction it belongs to. */
export function transactionFrom(row: Row, names: Names): TransactionParts {
  const parts = { header: pick(row, header), line: pick(row, line), ...pick(row, dated) }
  const { storeNumber } = row
  if (storeNumber !== undefined)
    parts.header.storeName = storeNumber === null ? null : names.store(storeNumber as string)
  if (row.sku !== undefined || row.skuId !== undefined) parts.line.sku = names.sku(row)
  const discounts = discountsOf(row)
  if (discounts) parts.line.discounts = discounts
  return parts as unknown as TransactionParts
}

type Discounts = NonNullable<TransactionParts['line']['discounts']>

/** The discount of a line as a list; undefined where there is no such column. */
export function discountsOf(row: Row): Discounts | undefined {
  const { discountType, discountReason, discountAmount, discountPercentage } = row
  if (discountAmount === undefined) return
  if (discountAmount === null) return []
  const discount = {
    type: discountType ?? 'discount',
    reason: discountReason ?? null,
    amount: discountAmount,
    percentage: discountPercentage ?? null,
  }
  return [discount as Discounts[number]]
}
