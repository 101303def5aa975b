/** Characters that no text of a request may hold, in classes as a pattern writes them (ECMA-262). */
export const controls = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029'
/** Those of a text of several lines. */
export const controlsOfLines = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f'
/** Marks that turn the direction of writing. */
export const turns = '\\u202a-\\u202e\\u2066-\\u2069'

const odd = `${controls}${turns}`

/** Patterns of whole texts. */
export const line = `^[^${odd}]*$`
export const lines = `^[^${controlsOfLines}${turns}]*$`
export const notBlank = `^[^${odd}]*[^${odd}\\s][^${odd}]*$`
/** With neither space in front nor behind. */
export const notPadded = `^[^${odd}\\s]([^${odd}]*[^${odd}\\s])?$`
/** What can stand in a query, and in a path. */
export const noControls = '^[^\\u0000-\\u001f\\u007f]*$'
