/** Converts an instant of PostgreSQL (`2026-11-02 10:00:00.123+00`) to RFC 3339 in UTC. */
export const toUtc = (instant: string) =>
  new Date(instant.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')).toISOString()
