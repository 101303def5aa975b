import { setTimeout as delay } from 'node:timers/promises'
import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

const lookMs = 10

/**
 * Waits for the transactions that were writing when a service was shut. Each of them had announced itself before it looked whether the
 * service was shut (`next_change_timestamp` in the migrations); one that announces itself now finds it shut.
 */
export async function untilWritten(db: Db, { id }: Pick<Service, 'id'>, signal: AbortSignal) {
  const announced = sql`
    select virtualtransaction as it from pg_locks
     where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
       and (objsubid = 1 and classid::bigint >> 16 = ${id} % 32768 or objsubid = 2 and classid::bigint = ${id})`
  const found = (await db.rows<{ it: string }>(announced)).map(({ it }) => it)
  while (
    found.length &&
    (await db.row(sql`select true as "is" from (${announced}) a where it = any(${found}) limit 1`))
  ) {
    signal.throwIfAborted()
    await delay(lookMs)
  }
}
