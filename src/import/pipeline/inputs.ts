import { fullConsent, getConsentInput } from '../../domain/customers/consent.ts'
import type { TransactionParts } from '../../domain/orders/merge-lines.ts'
import type { TaxLine } from '../../domain/orders/tax.ts'
import type { Row } from './ingest.ts'

/** Picks columns of a row, renamed for the store. */
function pick(row: Row, names: Readonly<Record<string, string>>) {
  const picked: Record<string, unknown> = {}
  for (const name in names) {
    const value = row[name]
    if (value !== undefined) picked[names[name] as string] = value
  }
  return picked
}

const mapToSameNames = (...names: string[]) => Object.fromEntries(names.map(name => [name, name]))

/** Returns the consent of a row, with the subscriptions that `privacy` ends, even if the row doesn't have them. */
export const listImpliedConsent = (row: Row): Row => getConsentInput(fullConsent, row)

export const toCustomerInput = ({ references, ...row }: Row) => ({
  ...row,
  ...listImpliedConsent(row),
  referenceValues: references,
})

export const toCustomerMappingInput = ({ customerId, ...row }: Row) => ({ id: customerId, ...row })

const product = {
  ...mapToSameNames('productId', 'productCode', 'name', 'description', 'sizeRange', 'updateTimeStamp'),
  references: 'referenceValues',
}
const colour = {
  ...mapToSameNames('productId', 'colourId', 'ecommerceProductId', 'markdownStatus'),
  colourCode: 'code',
  colourName: 'name',
}
const variant = mapToSameNames(
  ...['productId', 'colourId', 'skuId', 'sku', 'sizeCode', 'sequence', 'originalPrice', 'price', 'barcode'],
  ...['allowBackorder', 'preorderDate'],
)

/** Splits a row into the parts of its tables. */
export const toProductInput = (row: Row) => ({
  product: pick(row, product),
  colour: pick(row, colour),
  variant: pick(row, variant),
})

const program = { ...mapToSameNames('programId', 'description'), programName: 'name' }
const tier = {
  ...mapToSameNames(
    'programId',
    'tierId',
    'accrualSpend',
    'accrualPoints',
    'autoRewardPointThreshold',
    'autoRewardValue',
  ),
  ...mapToSameNames('qualifySpend', 'qualifyMonths', 'qualifyDays', 'pointsExpiryMonths', 'pointsExpiryDays'),
  ...mapToSameNames('rewardExpiryMonths', 'rewardExpiryDays'),
  tierName: 'name',
  tierSequence: 'sequence',
}

/** Splits a row into tier and program. */
export const toProgramInput = (row: Row) => ({ program: pick(row, program), tier: pick(row, tier) })

const header = {
  ...mapToSameNames('id', 'number', 'orderNumber', 'channel', 'type', 'saleDate', 'customerId', 'storeNumber'),
  ...mapToSameNames('carrier', 'trackingNumber', 'trackingUrl'),
}
const line = {
  ...mapToSameNames('sequence', 'productCode', 'productName', 'colourCode', 'colourName', 'sizeCode'),
  ...mapToSameNames('quantity', 'price', 'value', 'taxPercent'),
  lineId: 'id',
}

const dated = mapToSameNames('updateTimeStamp')

/** Finds the store names and e-commerce SKUs of transaction rows. */
export interface NameLookup {
  store(number: string): string | null
  /** Returns the SKU of `skuId`, or else of `sku`. Null if no product has it. */
  sku(row: Row): string | null
}

/** Splits a row into line and transaction. */
export function toTransactionParts(row: Row, names: NameLookup): TransactionParts {
  const parts = { header: pick(row, header), line: pick(row, line), ...pick(row, dated) }
  const { storeNumber } = row
  if (storeNumber !== undefined)
    parts.header.storeName = storeNumber === null ? null : names.store(storeNumber as string)
  if (row.sku !== undefined || row.skuId !== undefined) parts.line.sku = names.sku(row)
  const { tax, taxName } = row
  if (tax !== undefined) parts.header.taxLines = buildTaxLines(tax, taxName)
  const discounts = toDiscounts(row)
  if (discounts) parts.line.discounts = discounts
  return parts as unknown as TransactionParts
}

/** Returns the tax of a row as a list, which is empty without a tax. */
export const buildTaxLines = (tax: unknown, name: unknown): TaxLine[] =>
  typeof tax === 'string' && /[1-9]/.test(tax)
    ? [{ name: typeof name === 'string' ? name : 'Tax', percentage: null, amount: tax }]
    : []

type Discounts = NonNullable<TransactionParts['line']['discounts']>

/** Returns the discount of a line as a list. Undefined if the file doesn't have the column. */
export function toDiscounts(row: Row): Discounts | undefined {
  const { discountType, discountReason, discountAmount, discountPercentage } = row
  if (discountAmount === undefined) return
  if (discountAmount === null || Number(discountAmount) === 0) return []
  const discount = {
    type: discountType ?? 'discount',
    reason: discountReason ?? null,
    amount: discountAmount,
    percentage: discountPercentage ?? null,
  }
  return [discount as Discounts[number]]
}
