/** True if the text is an IANA time zone. Offsets are rejected: they have no summer time, and PostgreSQL reads them with the opposite sign. */
export function isTimeZone(text: string): boolean {
  try {
    return /^[A-Z]/.test(text) && Boolean(new Intl.DateTimeFormat('en', { timeZone: text }))
  } catch {
    return false
  }
}
