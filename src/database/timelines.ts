import type pg from 'pg'

/** Maximum milliseconds to connect to a server whose timeline is read. */
export const timelineTimeoutMs = 1_000

/** The newest timeline of each PostgreSQL, by its system identifier. A promotion starts a new one. */
const newestTimelines = new Map<string, number>()

/** The timeline of each connection when it was opened. */
const timelines = new WeakMap<pg.Client, { system: string; timeline: number }>()

/** A primary that was replaced by a promotion. SQLSTATE 08001: the session can't be established. */
class FormerPrimary extends Error {
  readonly code = '08001'
  constructor({ host, port }: pg.Client, timeline: number, newest: number) {
    super(`${host}:${port} is a former primary: its timeline is ${timeline}, the newest one is ${newest}`)
  }
}

const selectTimeline = `
  select system_identifier::text as system, ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer as timeline
    from pg_control_system()`

/**
 * Remembers the timeline of a primary. Throws if another server has a newer one: writes to a primary that comes back after a failover
 * would be lost. Accepts a server that doesn't report its timeline, such as one of a managed service.
 */
export async function requireCurrentTimeline(client: pg.Client) {
  const rows = await client
    .query<{ system: string; timeline: number }>(selectTimeline)
    .then(result => result.rows)
    .catch((error: { code?: string }) => {
      // 55000: a standby. 42501 and 42883: the functions are not available.
      if (/^(55000|42501|42883|0A000)$/.test(error.code ?? '')) return []
      throw error
    })
  const [{ system, timeline } = { system: '', timeline: 0 }] = rows
  const newest = newestTimelines.get(system) ?? 0
  if (timeline < newest) throw new FormerPrimary(client, timeline, newest)
  if (!timeline) return
  newestTimelines.set(system, timeline)
  timelines.set(client, { system, timeline })
}

/** Returns an error if the server of an open connection was replaced by a promotion since. */
export function findReplacement(client: pg.Client): Error | undefined {
  const opened = timelines.get(client)
  const newest = opened && newestTimelines.get(opened.system)
  return newest !== undefined && opened && opened.timeline < newest
    ? new FormerPrimary(client, opened.timeline, newest)
    : undefined
}
