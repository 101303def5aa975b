// Each function is self-contained, because the console receives their source text (src/console/assets.ts).

/**
 * Returns a cell that a spreadsheet can open safely: text that it would run as a formula, also after apostrophes, gets an apostrophe in
 * front. Numbers and phone numbers stay the same.
 */
export const escapeFormula = (text: string) =>
  /^'*[=+\-@\t\r]/.test(text) && !/^[+-]\d[\d .()]*$/.test(text) ? `'${text}` : text

/** Reverses `escapeFormula`. */
export const unescapeFormula = (text: string) => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text)
