import { type Sql, sql } from '../db.ts'

/** A position in the write-ahead log of a primary. As text: `<system>.<database>.<timeline>.<lsn>`. */
export interface Lsn {
  /** The identity of the log: system identifier, database OID, and timeline. A promotion starts a new timeline. */
  log: string
  /** Bytes since the start of the log. */
  at: bigint
}

/** Parses an LSN in the form of `Lsn`. */
export function parseLsn(text: string): Lsn {
  const separator = text.lastIndexOf('.')
  const [high = '', low = ''] = text.slice(separator + 1).split('/')
  return { log: text.slice(0, separator), at: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) }
}

/** The OID of the current database. A standby has the same OIDs as its primary. */
const database = sql`(select oid from pg_database where datname = current_database())`

/**
 * SQL for the current LSN of the primary. Uses the insert LSN: without `synchronous_commit`, a transaction ends and releases its locks before its
 * commit is flushed. At the end of a page PostgreSQL returns the LSN after the header of the next page, but a standby returns the end of the
 * last record. Therefore the header is subtracted: 40 bytes in the first page of a file, otherwise 24.
 */
export const currentLsn: Sql = sql`
  (select to_hex(system_identifier) || '.' || ${database} || '.' || left(pg_walfile_name(lsn), 8) || '.'
          || lsn - case when o.file_offset = 40 then 40 when o.file_offset % 8192 = 24 then 24 else 0 end
     from pg_control_system(), pg_current_wal_insert_lsn() lsn, pg_walfile_name_offset(lsn) o)`

export interface ReplayState {
  isStandby: boolean
  /** Null if the server is not a standby, has replayed nothing yet, or doesn't report the source of its WAL. */
  lsn: string | null
}

/**
 * Query for the replay state. The timeline belongs to the server from which the standby receives WAL. The control file is not used: after a
 * promotion it is outdated for minutes, so a standby of a wrongly promoted server could pass for a standby of the primary.
 */
export const replayState: Sql = sql`
  select pg_is_in_recovery() as "isStandby", pg_backend_pid() as pid,
         to_hex(s.system_identifier) || '.' || ${database} || '.'
           || upper(lpad(to_hex((select received_tli from pg_stat_wal_receiver)), 8, '0'))
           || '.' || pg_last_wal_replay_lsn() as lsn
    from pg_control_system() s`
