/** Whether a text is an IANA time zone. Offsets, which have no summer time, are taken by the runtime and mean the opposite to the database. */
export function isTimeZone(text: string): boolean {
  try {
    return /^[A-Z]/.test(text) && Boolean(new Intl.DateTimeFormat('en', { timeZone: text }))
  } catch {
    return false
  }
}
