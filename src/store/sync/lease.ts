import { sql } from '../../database/db.ts'

/** True if a run has the lease of row `s` of `sync_state`. A minute without a heartbeat ends the lease. */
export const isLeased = sql`coalesce(s.heartbeat_at >= now() - interval '60 s', false)`
