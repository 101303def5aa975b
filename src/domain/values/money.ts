/** The currencies of ISO 4217 (list one) without two decimals. `Intl` has the customary decimals (CLDR) instead, such as no fillér. */
const exceptions: readonly [decimals: number, currencies: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]
const decimalsByCurrency = new Map(
  exceptions.flatMap(([digits, currencies]) => currencies.split(' ').map(currency => [currency, digits])),
)

/** Returns the number of decimals of a currency (ISO 4217). */
export const getDecimals = (currency: string): number => decimalsByCurrency.get(currency) ?? 2

/** Parses an amount into minor units. Returns undefined if the text is no amount or has more decimals than the currency. */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  const parts = /^(-?)(\d{1,12})(?:\.(\d+))?$/.exec(text)
  if (!parts) return
  const [, sign, integer = '', fraction = ''] = parts
  if (fraction.length > decimals && /[1-9]/.test(fraction.slice(decimals))) return
  const units = BigInt(integer + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return sign ? -units : units
}

/** Parses a stored amount into minor units. Throws if it has more decimals than its currency. */
export function parseStoredAmount(text: string, decimals: number): bigint {
  const units = parseAmount(text, decimals)
  if (units === undefined) throw new Error(`stored amount has more than ${decimals} decimals`)
  return units
}

/** Formats minor units with the currency's decimals. */
export function formatAmount(units: bigint, decimals: number) {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const integer = digits.slice(0, digits.length - decimals)
  return `${units < 0n ? '-' : ''}${integer}${decimals ? `.${digits.slice(-decimals)}` : ''}`
}

const priceDecimals = 4

/** Normalizes the price of one unit: the currency's decimals, or up to four if needed. Returns undefined if the text is no price. */
export function normalizeUnitPrice(text: string, decimals: number): string | undefined {
  const finest = Math.max(decimals, priceDecimals)
  const units = parseAmount(text, finest)
  if (units === undefined) return
  const full = formatAmount(units, finest)
  const point = full.length - finest - 1
  const needed = Math.max(decimals, full.replace(/0+$/, '').length - point - 1)
  return full.slice(0, needed ? point + 1 + needed : point)
}

/** Returns the price of a quantity (at most three decimals) in minor units, rounded half away from zero. */
export function computePrice(quantity: number, price: string, decimals: number): bigint {
  const finest = Math.max(decimals, priceDecimals)
  const exact = (parseAmount(price, finest) ?? 0n) * BigInt(Math.round(quantity * 1000))
  const scale = 10n ** BigInt(finest - decimals + 3)
  const half = exact < 0n ? -scale / 2n : scale / 2n
  return (exact + half) / scale
}
