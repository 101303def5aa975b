// These functions must not use anything outside themselves, because the console is served their source text (src/console/assets.ts).

/**
 * A cell as it can be opened in a spreadsheet: text that would be run there, also behind apostrophes, has an apostrophe in front. A
 * number, or a telephone number as people write it, is no more than that there.
 */
export const withoutFormula = (text: string) =>
  /^'*[=+\-@\t\r]/.test(text) && !/^[+-]\d[\d .()]*$/.test(text) ? `'${text}` : text

/** The cell again that `withoutFormula` was given. */
export const asItWas = (text: string) => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text)
