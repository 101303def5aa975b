import { parseAmount } from '../../../src/domain/values/money.ts'
import { addToGroup, countSeveral } from './accounts.ts'

/** A row of the source file. */
export interface Line {
  invoice: string
  code: string
  description: string
  quantity: number
  time: string
  price: string
  customer: string
  country: string
}

interface Invoice {
  lines: number
  time: string
  times: Set<string>
}

/** Codes that are not products: postage, manual entries, discounts, samples, fees, donations, pads and bad debt. */
const nonProducts = new Set('POST DOT M C2 D S AMAZONFEE CRUK PADS B'.split(' ').concat('BANK CHARGES'))

const style = /^(\d{5})[A-Za-z]$/
const asciiOnly = /^\p{ASCII}*$/u

/**
 * Counts anomalies row by row. Memory grows with the invoices, stock codes, customers, and pairs of customer and code,
 * but not with the rows.
 */
export class UciCounts {
  #invoices = new Map<string, Invoice>()
  #previousInvoice = ''
  #notAdjacent = new Set<string>()
  #descriptions = new Map<string, Set<string>>()
  #codeNumbers = new Map<string, number>()
  #countries = new Map<string, Set<string>>()
  #sold = new Map<number, number>()
  #returned = new Map<number, number>()
  #rowsAtCurrentTime = new Set<string>()
  #currentTime = ''
  #allCountries = new Set<string>()
  #rows = {
    creditNoteRows: 0,
    negativeRows: 0,
    negativeRowsOutsideCreditNotes: 0,
    rowsWithoutCustomer: 0,
    rowsWithoutDescription: 0,
    rowsAtPriceZero: 0,
    rowsAtNegativePrice: 0,
    rowsBeyondCurrency: 0,
    exactDuplicates: 0,
    rowsBackInTime: 0,
    rowsAtAnotherTimeThanTheirInvoice: 0,
    rowsBeyondAscii: 0,
    giftVoucherRows: 0,
    nonProductRows: 0,
    largestQuantity: 0,
  }

  /** Counts a row. Returns its number within its invoice, from 1, and the time of the invoice's first row. */
  count(line: Line): { sequence: number; time: string } {
    const { invoice, code, description, quantity, time, price, customer, country } = line
    const rows = this.#rows
    const credit = invoice.startsWith('C')
    if (credit) rows.creditNoteRows++
    if (quantity < 0) rows.negativeRows++
    if (quantity < 0 && !credit) rows.negativeRowsOutsideCreditNotes++
    if (!customer) rows.rowsWithoutCustomer++
    if (!description) rows.rowsWithoutDescription++
    const units = parseAmount(price, 2)
    if (units === undefined) rows.rowsBeyondCurrency++
    else if (units === 0n) rows.rowsAtPriceZero++
    else if (units < 0n) rows.rowsAtNegativePrice++
    if (!asciiOnly.test(description)) rows.rowsBeyondAscii++
    if (code.startsWith('gift_0001_')) rows.giftVoucherRows++
    if (nonProducts.has(code)) rows.nonProductRows++
    rows.largestQuantity = Math.max(rows.largestQuantity, Math.abs(quantity))
    this.#countDuplicate(line)
    addToGroup(this.#descriptions, code, description)
    this.#allCountries.add(country)
    if (customer) {
      addToGroup(this.#countries, customer, country)
      this.#countReturn(customer, code, quantity)
    }
    return this.#countInvoice(invoice, time)
  }

  /** Rows are in time order, so duplicates have the same time and only the rows of the current time are stored. */
  #countDuplicate(line: Line) {
    if (line.time < this.#currentTime) this.#rows.rowsBackInTime++
    if (line.time !== this.#currentTime) this.#rowsAtCurrentTime.clear()
    this.#currentTime = line.time
    const row = Object.values(line).join('\t')
    if (this.#rowsAtCurrentTime.has(row)) this.#rows.exactDuplicates++
    this.#rowsAtCurrentTime.add(row)
  }

  #countReturn(customer: string, code: string, quantity: number) {
    const codeNumber = this.#codeNumbers.get(code) ?? this.#codeNumbers.size
    this.#codeNumbers.set(code, codeNumber)
    const pair = Number(customer) * 10_000 + codeNumber
    const side = quantity < 0 ? this.#returned : this.#sold
    side.set(pair, (side.get(pair) ?? 0) + Math.abs(quantity))
  }

  #countInvoice(number: string, time: string) {
    const existing = this.#invoices.get(number)
    const invoice = existing ?? { lines: 0, time, times: new Set() }
    if (!existing) this.#invoices.set(number, invoice)
    else if (number !== this.#previousInvoice) this.#notAdjacent.add(number)
    this.#previousInvoice = number
    invoice.times.add(time)
    if (time !== invoice.time) this.#rows.rowsAtAnotherTimeThanTheirInvoice++
    return { sequence: ++invoice.lines, time: invoice.time }
  }

  /** Returns all counts. */
  getTotals() {
    const numbers = [...this.#invoices.keys()]
    const invoices = [...this.#invoices.values()]
    const codes = [...this.#descriptions.keys()]
    const cases = new Map<string, Set<string>>()
    const styles = new Map<string, Set<string>>()
    for (const code of codes) {
      addToGroup(cases, code.toLowerCase(), code)
      const styleCode = style.exec(code)?.[1]
      if (styleCode) addToGroup(styles, styleCode, code)
    }
    const overReturned = [...this.#returned].filter(([pair, units]) => units > (this.#sold.get(pair) ?? 0))
    return {
      ...this.#rows,
      invoices: invoices.length,
      creditNotes: numbers.filter(number => number.startsWith('C')).length,
      badDebtInvoices: numbers.filter(number => number.startsWith('A')).length,
      invoicesNotAdjacent: this.#notAdjacent.size,
      invoicesWithSeveralTimes: countSeveral(invoices.map(invoice => invoice.times)),
      largestInvoice: invoices.reduce((largest, invoice) => Math.max(largest, invoice.lines), 0),
      stockCodes: codes.length,
      caseCollisions: countSeveral(cases.values()),
      stylesWithSeveralCodes: countSeveral(styles.values()),
      codesWithSeveralDescriptions: countSeveral(this.#descriptions.values()),
      codesWithoutDescription: [...this.#descriptions.values()].filter(
        descriptions => descriptions.size === 1 && descriptions.has(''),
      ).length,
      customers: this.#countries.size,
      customersInSeveralCountries: countSeveral(this.#countries.values()),
      countries: this.#allCountries.size,
      overReturns: overReturned.length,
      returnsWithoutSale: overReturned.filter(([pair]) => !this.#sold.has(pair)).length,
    }
  }
}
