const quoted = String.raw`"(?:[^"\\]|\\.)*"`
const preference = new RegExp(`(^|[,;])\\s*([^\\s,;="]+)\\s*(?:=\\s*(${quoted}|[^\\s,;"]+))?|${quoted}`, 'g')

/** Whether a `Prefer` header has a preference of this value; a quoted text is one value, whatever it holds, and behind a semicolon stand parameters of another one (RFC 7240, section 2). */
const prefers = (header: string, name: string, value: string) =>
  header
    .matchAll(preference)
    .some(
      ([, before = '', given = '', said = '']) =>
        before !== ';' && given.toLowerCase() === name && said.replace(/^"(.*)"$/, '$1').toLowerCase() === value,
    )

/** `Prefer: tx=rollback` (contract 13): nothing of the write is to be kept. */
export const isTrial = (prefer = '') => prefers(prefer, 'tx', 'rollback')

/** `Prefer: handling=strict`: what cannot be told whole is to be an error. */
export const isStrict = (prefer = '') => prefers(prefer, 'handling', 'strict')
