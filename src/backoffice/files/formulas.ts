/** What a spreadsheet takes for a formula, with the apostrophes that keep it from that. */
const formula = /^'*[=+\-@\t\r]/
/** A number, or a telephone number as people write it: to a spreadsheet these are no more than that. */
const number = /^[+-]\d[\d .()]*$/

/** A cell as it can be opened in a spreadsheet: text that would be run there has an apostrophe in front. */
export const withoutFormula = (text: string) => (formula.test(text) && !number.test(text) ? `'${text}` : text)

/** The cell again that `withoutFormula` was given. */
export const asItWas = (text: string) => (text.startsWith("'") && formula.test(text) ? text.slice(1) : text)
