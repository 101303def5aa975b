/** Parses a `Retry-After` header (RFC 9110, section 10.2.3), in seconds or as a date, into milliseconds. Returns undefined if it is invalid. */
export function parseRetryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
