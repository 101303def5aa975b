import { sql } from '../../database/db.ts'

/** Whether a run has the feed of a row `s` of `sync_state`. One without a beat for a minute is taken to be dead. */
export const isHeld = sql`coalesce(s.beat_at >= now() - interval '60 s', false)`
