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
