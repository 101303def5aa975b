import { getDecimals, parseAmount } from '../../domain/values/money.ts'
import { RowError } from './row-error.ts'

/** The marks before the decimals of a number. */
export const decimalMarks = ['.', ','] as const
export type DecimalMark = (typeof decimalMarks)[number]

type ParseNumber = (text: string) => number | string | RowError

/** Returns a number as digits with a decimal point. Undefined if the text is not a number. */
type ReadNumber = (text: string) => string | undefined

const groupedNumber = {
  '.': /^([+-]?)(\d+|\d{1,3}(?:[,'\u0020\u00a0\u202f]\d{3})+)(?:\.(\d+))?$/,
  ',': /^([+-]?)(\d+|\d{1,3}(?:[.'\u0020\u00a0\u202f]\d{3})+)(?:,(\d+))?$/,
}

/** Creates a reader of numbers with this mark. Without one, separators of thousands are rejected, because they could be decimal marks. */
function createNumberReader(mark: DecimalMark | undefined): ReadNumber {
  if (mark === undefined) return text => (/^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? text.trim() : undefined)
  return text => {
    const [, sign, integer, decimals] = groupedNumber[mark].exec(text.trim()) ?? []
    return integer && `${sign}${integer.replace(/\D/g, '')}${decimals === undefined ? '' : `.${decimals}`}`
  }
}

const notAnInteger = new RowError('must be an integer')
const hasDecimals = new RowError("must be an integer and can't have decimals")
const tooPrecise = new RowError('must have at most three decimals')
const commaBeforeDecimals = new RowError(
  'must have a decimal point, not a comma. To read such numbers, use --decimal ,',
)
const commaInThousands = new RowError("can't have a comma between thousands. To read such numbers, use --decimal .")
const commaOfEither = new RowError(
  'has an ambiguous comma. Use --decimal . if it separates thousands, or --decimal , if it precedes decimals',
)

const otherCurrency = new RowError('must be in the currency of the service, not in another one')
const hasCurrency = /\p{Sc}|\b[A-Z]{3}\b/u

const createNumberError = (type: string, mark: DecimalMark = '.') =>
  new RowError(`must be ${type}: only digits, with a ${mark === ',' ? 'comma' : 'point'} before the decimals`)

/** Returns the error of a text that is not a number. Suggests the other decimal mark if that could help. */
function explainNumberError(text: string, mark: DecimalMark | undefined, reason: RowError) {
  if (mark !== undefined) return reason
  const unsigned = text.trim().replace(/^[+-]/, '')
  if (/^[1-9]\d{0,2},\d{3}$/.test(unsigned)) return commaOfEither
  if (/^[\d.]*,\d+$/.test(unsigned)) return commaBeforeDecimals
  return /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(unsigned) ? commaInThousands : reason
}

/** Returns the number without trailing zeros of its decimals. A loop, because `/\.?0+$/` takes quadratic time on a run of zeros. */
function trimZeros(plain: string) {
  if (!plain.includes('.')) return plain
  let end = plain.length
  while (plain[end - 1] === '0') end--
  return plain.slice(0, plain[end - 1] === '.' ? end - 1 : end)
}

interface Range {
  minimum?: number
  maximum?: number
}

function createRangeCheck({ minimum = -Infinity, maximum = Infinity }: Range) {
  const tooSmall = new RowError(`must be at least ${minimum}`)
  const tooLarge = new RowError(`must be at most ${maximum}`)
  return (value: number) => (value < minimum ? tooSmall : value > maximum ? tooLarge : value + 0)
}

/** Parses an integer. Accepts decimals that are zeros: `1.0`. */
export function createIntegerParser(range: Range, mark?: DecimalMark): ParseNumber {
  const readNumber = createNumberReader(mark)
  const inRange = createRangeCheck(range)
  return text => {
    const digits = readNumber(text)
    if (digits === undefined) return explainNumberError(text, mark, notAnInteger)
    const integer = trimZeros(digits)
    if (integer.includes('.')) return hasDecimals
    return /^[+-]?\d{1,15}$/.test(integer) ? inRange(Number(integer)) : notAnInteger
  }
}

/** Parses a number with at most three decimals. */
export function createQuantityParser(range: Range, mark?: DecimalMark): ParseNumber {
  const readNumber = createNumberReader(mark)
  const inRange = createRangeCheck(range)
  const notANumber = createNumberError('a number', mark)
  return text => {
    const digits = readNumber(text)
    if (digits === undefined) return explainNumberError(text, mark, notANumber)
    const trimmed = trimZeros(digits)
    if (/\.\d{4}/.test(trimmed)) return tooPrecise
    return /^[+-]?\d/.test(trimmed) ? inRange(Number(trimmed)) : notANumber
  }
}

export function createMoneyParser(currency: string, mark?: DecimalMark): ParseNumber {
  const decimals = getDecimals(currency)
  const amountTooPrecise = new RowError(`must have at most ${decimals} decimals, like ${currency}`)
  return createAmountParser(decimals, amountTooPrecise, mark)
}

/** Parses a percentage. */
export function createPercentParser(mark?: DecimalMark): ParseNumber {
  const readNumber = createNumberReader(mark)
  const notPercent = createNumberError('a percentage with at most four decimals', mark)
  return text => {
    const digits = readNumber(text)
    return digits !== undefined && /^\d{1,3}(\.\d{1,4})?$/.test(digits)
      ? digits
      : explainNumberError(text, mark, notPercent)
  }
}

const maxPriceDecimals = 4
const priceTooPrecise = new RowError(`must have at most ${maxPriceDecimals} decimals`)

/** Parses the price of one unit, which can have more decimals than the currency. */
export const createUnitPriceParser = (mark?: DecimalMark): ParseNumber =>
  createAmountParser(maxPriceDecimals, priceTooPrecise, mark)

function createAmountParser(decimals: number, amountTooPrecise: RowError, mark: DecimalMark | undefined): ParseNumber {
  const readNumber = createNumberReader(mark)
  const notMoney = createNumberError('an amount', mark)
  return text => {
    const digits = readNumber(text)
    if (digits === undefined || !/^-?\d{1,12}(\.|$)/.test(digits))
      return hasCurrency.test(text) && /\d/.test(text) ? otherCurrency : explainNumberError(text, mark, notMoney)
    return parseAmount(digits, decimals) === undefined
      ? amountTooPrecise
      : /\.\d{5}/.test(digits)
        ? trimZeros(digits)
        : digits
  }
}
