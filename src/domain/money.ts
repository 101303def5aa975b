const decimals = new Map<string, number>()

/** How many decimals a currency has (ISO 4217, as the runtime's tables know it). */
export function decimalsOf(currency: string): number {
  const known = decimals.get(currency)
  if (known !== undefined) return known
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  decimals.set(currency, maximumFractionDigits)
  return maximumFractionDigits
}

/** An amount in minor units; undefined where the text is no amount, or has more decimals than the currency. */
export function minorUnits(text: string, decimals: number): bigint | undefined {
  const parts = /^(-?)(\d{1,12})(?:\.(\d+))?$/.exec(text)
  if (!parts) return
  const [, sign, whole = '', fraction = ''] = parts
  if (fraction.slice(decimals).replace(/0+$/, '')) return
  const units = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return sign ? -units : units
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
  const needed = Math.max(decimals, full.replace(/0+$/, '').length - full.indexOf('.') - 1)
  return amount(minorUnits(text, needed) ?? 0n, needed)
}

/** What a quantity of three decimals at most costs, in minor units: rounded to the nearest, halves away from zero. */
export function priceOf(quantity: number, price: string, decimals: number): bigint {
  const finest = Math.max(decimals, priceDecimals)
  const exact = (minorUnits(price, finest) ?? 0n) * BigInt(Math.round(quantity * 1000))
  const one = 10n ** BigInt(finest - decimals + 3)
  const half = exact < 0n ? -one / 2n : one / 2n
  return (exact + half) / one
}
