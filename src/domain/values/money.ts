/** The currencies of ISO 4217 (list one) whose minor unit is not a hundredth. What a runtime knows is what is customary (CLDR): no fillér. */
const unusual: readonly [decimals: number, currencies: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]
const decimals = new Map(
  unusual.flatMap(([digits, currencies]) => currencies.split(' ').map(currency => [currency, digits])),
)

/** How many decimals a currency has, by ISO 4217. */
export const decimalsOf = (currency: string): number => decimals.get(currency) ?? 2

/** An amount in minor units; undefined where the text is no amount, or has more decimals than the currency. */
export function minorUnits(text: string, decimals: number): bigint | undefined {
  const parts = /^(-?)(\d{1,12})(?:\.(\d+))?$/.exec(text)
  if (!parts) return
  const [, sign, whole = '', fraction = ''] = parts
  if (fraction.length > decimals && /[1-9]/.test(fraction.slice(decimals))) return
  const units = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return sign ? -units : units
}

/** An amount of our own tables, in minor units: one that does not fit its currency is nothing to reckon with. */
export function storedUnits(text: string, decimals: number): bigint {
  const units = minorUnits(text, decimals)
  if (units === undefined) throw new Error(`an amount is stored with more decimals than its currency has: ${decimals}`)
  return units
}

/** Minor units as text with the currency's decimals. */
export function amount(units: bigint, decimals: number) {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  return `${units < 0n ? '-' : ''}${whole}${decimals ? `.${digits.slice(-decimals)}` : ''}`
}

const priceDecimals = 4

/** The price of one unit with the currency's decimals, or with as many more as it needs, up to four. Undefined: no price. */
export function unitPrice(text: string, decimals: number): string | undefined {
  const finest = Math.max(decimals, priceDecimals)
  const units = minorUnits(text, finest)
  if (units === undefined) return
  const full = amount(units, finest)
  const point = full.length - finest - 1
  const needed = Math.max(decimals, full.replace(/0+$/, '').length - point - 1)
  return full.slice(0, needed ? point + 1 + needed : point)
}

/** What a quantity of three decimals at most costs, in minor units: rounded to the nearest, halves away from zero. */
export function priceOf(quantity: number, price: string, decimals: number): bigint {
  const finest = Math.max(decimals, priceDecimals)
  const exact = (minorUnits(price, finest) ?? 0n) * BigInt(Math.round(quantity * 1000))
  const one = 10n ** BigInt(finest - decimals + 3)
  const half = exact < 0n ? -one / 2n : one / 2n
  return (exact + half) / one
}
