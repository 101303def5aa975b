import { type Database, type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { waitForWriteLocks } from '../lists/wait-for-writers.ts'

/** The accounts that may use this service and no other: they end with it. */
export const accountsOfIt = async (db: Db, service: Pick<Service, 'id'>): Promise<string[]> =>
  (
    await db.rows<{ username: string }>(sql`
      select username from account_service a
       where service_id = ${service.id} and not exists (select from account_service o where o.username = a.username and o.service_id <> a.service_id)
       order by username`)
  ).map(({ username }) => username)

/**
 * Lets nobody in any more, and has no further job done: each process knows it once it looks anew (`authCacheTtlMs`, `renewalMs`). What is under
 * way for it is taken from its worker.
 */
export const shut = (db: Database, service: Service) =>
  db.transaction(async tx => {
    await tx.run(
      sql`update service set deletion_state = 'locked' where service_id = ${service.id} and deletion_state is null`,
    )
    await tx.run(sql`
      update job set lease = null, leased_until = null, unfinished_starts = unfinished_starts - 1 where service_id = ${service.id} and lease is not null`)
  })

/** Waits for the transactions that still write for it: those that have announced it, and those of which a row refers to the service. */
export async function waitForWriters(db: Database, service: Service, signal: AbortSignal) {
  await waitForWriteLocks(db, service, signal)
  await db.transaction(tx => tx.run(sql`select from service where service_id = ${service.id} for update`))
}

/** Opens a service again of which nothing has gone. */
export const reopen = (db: Db, service: Service) =>
  db.run(sql`update service set deletion_state = null where service_id = ${service.id} and deletion_state = 'locked'`)

/** From here on its rows may go. False: somebody else has begun with that, or has opened it again. */
export const beginEmptying = async (db: Db, service: Service): Promise<boolean> =>
  (await db.run(
    sql`update service set deletion_state = 'purging' where service_id = ${service.id} and deletion_state = 'locked'`,
  )) > 0

/** Removes what is left: the service itself, what refers to it and came meanwhile, and the accounts that were its alone. Returns these. */
export const end = (db: Database, service: Pick<Service, 'id'>) =>
  db.transaction(async tx => {
    const mine = sql`service_id = ${service.id}`
    await tx.run(sql`select from service where ${mine} for update`)
    await tx.run(
      sql`select from account where username in (select username from account_service where ${mine}) order by username for update`,
    )
    const alone = await accountsOfIt(tx, service)
    await tx.run(sql`delete from account where username = any(${alone})`)
    await tx.run(sql`delete from request_block where ${mine}`)
    await tx.run(sql`delete from request_minute where ${mine}`)
    await tx.run(sql`delete from service where ${mine}`)
    return alone
  })
