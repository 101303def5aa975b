import { getDecimals, parseAmount } from '../../domain/values/money.ts'
import { RowError } from './row-error.ts'

/** What stands before the decimals of a file's numbers. */
export const decimalMarks = ['.', ','] as const
export type DecimalMark = (typeof decimalMarks)[number]

/** The value of a number's text, or why it is rejected. */
type Check = (text: string) => number | string | RowError

/** A number as digits with a point before its decimals; undefined where the text is none. */
type Plain = (text: string) => string | undefined

const grouped = {
  '.': /^([+-]?)(\d+|\d{1,3}(?:[,'\u0020\u00a0\u202f]\d{3})+)(?:\.(\d+))?$/,
  ',': /^([+-]?)(\d+|\d{1,3}(?:[.'\u0020\u00a0\u202f]\d{3})+)(?:,(\d+))?$/,
}

/** Reads numbers as they are written with this mark. Where nobody has named it, separators of thousands might be decimals: there are none. */
function plainBy(mark: DecimalMark | undefined): Plain {
  if (mark === undefined) return text => (/^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? text.trim() : undefined)
  return text => {
    const [, sign, whole, decimals] = grouped[mark].exec(text.trim()) ?? []
    return whole && `${sign}${whole.replace(/\D/g, '')}${decimals === undefined ? '' : `.${decimals}`}`
  }
}

const notWhole = new RowError('is no whole number')
const hasDecimals = new RowError('has decimals, where only a whole number can be stored')
const tooPrecise = new RowError('has more than three decimals')
const commaBeforeDecimals = new RowError('has a comma where a point is expected: --decimal , reads such numbers')
const commaInThousands = new RowError('has a comma between thousands: --decimal . reads such numbers')
const commaOfEither = new RowError(
  'has a comma: --decimal . reads it as a separator of thousands, --decimal , as the mark before decimals',
)

const noneOf = (what: string, mark: DecimalMark = '.') =>
  new RowError(
    `is no ${what}: digits, with a ${mark === ',' ? 'comma' : 'point'} before the decimals, and nothing else`,
  )

/** Why a text is no number, where it may be one of another mark. */
function otherwise(text: string, mark: DecimalMark | undefined, reason: RowError) {
  if (mark !== undefined) return reason
  const unsigned = text.trim().replace(/^[+-]/, '')
  if (/^[1-9]\d{0,2},\d{3}$/.test(unsigned)) return commaOfEither
  if (/^[\d.]*,\d+$/.test(unsigned)) return commaBeforeDecimals
  return /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(unsigned) ? commaInThousands : reason
}

/** Returns the number without trailing zeros of its decimals. A loop, because `/\.?0+$/` takes quadratic time on a run of zeros. */
function shortened(plain: string) {
  if (!plain.includes('.')) return plain
  let end = plain.length
  while (plain[end - 1] === '0') end--
  return plain.slice(0, plain[end - 1] === '.' ? end - 1 : end)
}

interface Range {
  minimum?: number
  maximum?: number
}

function within({ minimum = -Infinity, maximum = Infinity }: Range) {
  const tooSmall = new RowError(`is less than ${minimum}`)
  const tooLarge = new RowError(`is more than ${maximum}`)
  return (value: number) => (value < minimum ? tooSmall : value > maximum ? tooLarge : value + 0)
}

/** A whole number, also one that is written with decimals that are zeros: `1.0`. */
export function wholeCheck(range: Range, mark?: DecimalMark): Check {
  const plain = plainBy(mark)
  const inRange = within(range)
  return text => {
    const digits = plain(text)
    if (digits === undefined) return otherwise(text, mark, notWhole)
    const whole = shortened(digits)
    if (whole.includes('.')) return hasDecimals
    return /^[+-]?\d{1,15}$/.test(whole) ? inRange(Number(whole)) : notWhole
  }
}

/** A number with three decimals at most. */
export function unitsCheck(range: Range, mark?: DecimalMark): Check {
  const plain = plainBy(mark)
  const inRange = within(range)
  const notANumber = noneOf('number', mark)
  return text => {
    const digits = plain(text)
    if (digits === undefined) return otherwise(text, mark, notANumber)
    const short = shortened(digits)
    if (/\.\d{4}/.test(short)) return tooPrecise
    return /^[+-]?\d{1,12}(\.|$)/.test(short) ? inRange(Number(short)) : notANumber
  }
}

/** An amount of a currency as text. */
export function moneyCheck(currency: string, mark?: DecimalMark): Check {
  const decimals = getDecimals(currency)
  const tooFine = new RowError(`has more decimals than ${currency} has: ${decimals}`)
  return amountCheck(decimals, tooFine, mark)
}

/** So many per cent, as text. */
export function percentCheck(mark?: DecimalMark): Check {
  const plain = plainBy(mark)
  const notPercent = noneOf('number of per cent with up to four decimals', mark)
  return text => {
    const digits = plain(text)
    return digits !== undefined && /^\d{1,3}(\.\d{1,4})?$/.test(digits) ? digits : otherwise(text, mark, notPercent)
  }
}

const pricePlaces = 4
const tooFineAPrice = new RowError(`has more than ${pricePlaces} decimals`)

/** The price of one unit as text, which may be finer than the currency is. */
export const unitPriceCheck = (mark?: DecimalMark): Check => amountCheck(pricePlaces, tooFineAPrice, mark)

function amountCheck(decimals: number, tooFine: RowError, mark: DecimalMark | undefined): Check {
  const plain = plainBy(mark)
  const notMoney = noneOf('amount', mark)
  return text => {
    const digits = plain(text)
    if (digits === undefined || !/^-?\d{1,12}(\.|$)/.test(digits)) return otherwise(text, mark, notMoney)
    return parseAmount(digits, decimals) === undefined ? tooFine : /\.\d{5}/.test(digits) ? shortened(digits) : digits
  }
}
