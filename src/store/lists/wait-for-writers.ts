import { setTimeout as delay } from 'node:timers/promises'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

const pollIntervalMs = 10

/**
 * Waits for the transactions that were writing when a service was closed for writes. Each writer takes its advisory lock before it checks
 * whether the service accepts writes (`next_change_timestamp` in migrations/0002_lists.sql), so a later writer is rejected. Throws if the
 * signal is aborted.
 */
export async function waitForWriteLocks(db: Db, { id }: Pick<Service, 'id'>, signal: AbortSignal) {
  const lockHolders = sql`
    select virtualtransaction as transaction from pg_locks
     where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
       and (objsubid = 1 and classid::bigint >> 16 = ${id} % 32768 or objsubid = 2 and classid::bigint = ${id})`
  const transactions = (await db.rows<{ transaction: string }>(lockHolders)).map(({ transaction }) => transaction)
  while (
    transactions.length &&
    (await db.row(
      sql`select true as "isWriting" from (${lockHolders}) holders where transaction = any(${transactions}) limit 1`,
    ))
  ) {
    signal.throwIfAborted()
    await delay(pollIntervalMs)
  }
}
