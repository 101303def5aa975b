import { type Sql, sql } from '../db.ts'

/** A place in the write-ahead log of a primary. As a text: `<system>.<database>.<timeline>.<lsn>`. */
export interface WalPosition {
  /** Which log it is: PostgreSQL's system identifier, the database's oid, and the timeline, of which a promotion begins another one. */
  log: string
  /** Bytes from its beginning. */
  at: bigint
}

export function parsePosition(text: string): WalPosition {
  const border = text.lastIndexOf('.')
  const [high = '', low = ''] = text.slice(border + 1).split('/')
  return { log: text.slice(0, border), at: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) }
}

/** Which of a server's databases it is. A standby has the same oids as its primary. */
const database = sql`(select oid from pg_database where datname = current_database())`

/**
 * Where the primary's log is now. What is inserted counts, flushed or not: without `synchronous_commit` a transaction ends, and its locks
 * go, before its commit is on the disk. At a page's end PostgreSQL names the place behind the header of the next page (40 bytes in the
 * first page of a file, else 24), a standby the end of the last record: so the header is taken off.
 */
export const currentPosition: Sql = sql`
  (select to_hex(system_identifier) || '.' || ${database} || '.' || left(pg_walfile_name(lsn), 8) || '.'
          || lsn - case when o.file_offset = 40 then 40 when o.file_offset % 8192 = 24 then 24 else 0 end
     from pg_control_system(), pg_current_wal_insert_lsn() lsn, pg_walfile_name_offset(lsn) o)`

/** How far a standby has come. */
export interface ReplayState {
  isStandby: boolean
  /** Null: it is none, has replayed nothing yet, or does not tell whose log it receives. */
  position: string | null
}

/**
 * How far a standby has come. Its timeline is that of the server which it receives from. What its control file says is some minutes old
 * after a promotion: by that, a standby of a server that was promoted beside our primary could pass for one of ours.
 */
export const replayState: Sql = sql`
  select pg_is_in_recovery() as "isStandby", pg_backend_pid() as pid,
         to_hex(s.system_identifier) || '.' || ${database} || '.'
           || upper(lpad(to_hex((select received_tli from pg_stat_wal_receiver)), 8, '0'))
           || '.' || pg_last_wal_replay_lsn() as position
    from pg_control_system() s`
