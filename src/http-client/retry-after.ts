/** Milliseconds until the time that a `Retry-After` names (RFC 9110, section 10.2.3): seconds, or a date. */
export function parseRetryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
