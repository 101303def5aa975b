/** One preference of a `Prefer` header, or a parameter of one. */
interface Preference {
  name: string
  value: string
  /** True if it follows a semicolon: it is a parameter of the preference before it. */
  isParameter: boolean
}

/**
 * Returns the preferences of a `Prefer` header (RFC 7240, section 2). A quoted string is one value, whatever it contains. Scans by hand,
 * each character once: a pattern with optional blanks takes quadratic time on long runs of blanks.
 */
function parsePreferences(header: string): Preference[] {
  const preferences: Preference[] = []
  let at = 0
  const skipBlanks = () => {
    while (header[at] === ' ' || header[at] === '\t') at++
  }
  const readToken = () => {
    const start = at
    while (at < header.length && !' \t,;="'.includes(header.charAt(at))) at++
    return header.slice(start, at)
  }
  /** Reads a quoted string; one that is not closed ends with the header. */
  const readQuoted = () => {
    let text = ''
    for (at++; at < header.length && header[at] !== '"'; at++) {
      if (header[at] === '\\') at++
      text += header.charAt(at)
    }
    at++
    return text
  }
  const skipToSeparator = () => {
    while (at < header.length && header[at] !== ',' && header[at] !== ';') {
      if (header[at] === '"') readQuoted()
      else at++
    }
  }
  let isParameter = false
  while (at < header.length) {
    skipBlanks()
    const name = readToken().toLowerCase()
    skipBlanks()
    let value = ''
    if (header[at] === '=') {
      at++
      skipBlanks()
      value = header[at] === '"' ? readQuoted() : readToken()
    }
    if (name !== '') preferences.push({ name, value: value.toLowerCase(), isParameter })
    skipToSeparator()
    isParameter = header[at] === ';'
    at++
  }
  return preferences
}

const hasPreference = (header: string, name: string, value: string) =>
  parsePreferences(header).some(
    preference => !preference.isParameter && preference.name === name && preference.value === value,
  )

/** True if the request asks for a dry run: `Prefer: tx=rollback`. */
export const prefersDryRun = (prefer = '') => hasPreference(prefer, 'tx', 'rollback')

/** True if fields that can't be returned completely must be an error: `Prefer: handling=strict`. */
export const prefersStrict = (prefer = '') => hasPreference(prefer, 'handling', 'strict')
