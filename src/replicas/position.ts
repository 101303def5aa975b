import { type Sql, sql } from '../db.ts'

/** A place in the write-ahead log of a primary. As a text: `<system>.<timeline>.<lsn>`. */
export interface Position {
  /** Which log it is: PostgreSQL's system identifier, and the timeline, of which a promotion begins another one. */
  log: string
  /** Bytes from its beginning. */
  at: bigint
}

export function positionIn(text: string): Position {
  const border = text.lastIndexOf('.')
  const [high = '', low = ''] = text.slice(border + 1).split('/')
  return { log: text.slice(0, border), at: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) }
}

/**
 * Where the primary's log is now. What is inserted counts, flushed or not: without `synchronous_commit` a transaction ends, and its locks
 * go, before its commit is on the disk.
 */
export const currentPosition: Sql = sql`
  (select to_hex(system_identifier) from pg_control_system()) || '.' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || '.' || pg_current_wal_insert_lsn()`

/** How far a standby has come. */
export interface Reached {
  isStandby: boolean
  /** Null: it is none, or has replayed nothing yet. */
  position: string | null
}

/**
 * How far a standby has come: its timeline is that of whom it receives from, which only a role of pg_read_all_stats may see. Others
 * learn it from the last restart point, which after a promotion may be some minutes late; it is too early, never too late.
 */
export const reached: Sql = sql`
  select pg_is_in_recovery() as "isStandby",
         to_hex(s.system_identifier) || '.'
           || upper(lpad(to_hex(coalesce((select received_tli from pg_stat_wal_receiver), greatest(r.min_recovery_end_timeline, c.timeline_id))), 8, '0'))
           || '.' || pg_last_wal_replay_lsn() as position
    from pg_control_system() s, pg_control_recovery() r, pg_control_checkpoint() c`
