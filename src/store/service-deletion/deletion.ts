import { type Database, type Db, sql } from '../../database/db.ts'
import { openDedicatedConnection } from '../../database/dedicated-connection.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { waitForWriteLocks } from '../lists/wait-for-writers.ts'

/** Lists the accounts that are assigned to this service only. They are deleted with it. */
export const listExclusiveAccounts = async (db: Db, service: Pick<Service, 'id'>): Promise<string[]> =>
  (
    await db.rows<{ username: string }>(sql`
      select username from account_service a
       where service_id = ${service.id} and not exists (select from account_service o where o.username = a.username and o.service_id <> a.service_id)
       order by username`)
  ).map(({ username }) => username)

/**
 * Locks a service: no request is admitted, and no job starts, once each process has noticed it (`authCacheTtlMs`, `renewalMs`). Ends the
 * leases of running jobs.
 */
export const lockService = (db: Database, service: Service) =>
  db.transaction(async tx => {
    await tx.run(
      sql`update service set deletion_state = 'locked' where service_id = ${service.id} and deletion_state is null`,
    )
    await tx.run(sql`
      update job set lease = null, leased_until = null, unfinished_starts = unfinished_starts - 1 where service_id = ${service.id} and lease is not null`)
  })

/** Waits for transactions that still write for the service: those with a writer lock, and those with a row that refers to the service. */
export async function waitForWriters(db: Database, service: Service, signal: AbortSignal) {
  await waitForWriteLocks(db, service, signal)
  await db.transaction(tx => tx.run(sql`select from service where service_id = ${service.id} for update`))
}

/** Unlocks a service of which no row has been deleted. */
export const unlockService = (db: Db, service: Service) =>
  db.run(sql`update service set deletion_state = null where service_id = ${service.id} and deletion_state = 'locked'`)

/** Permits the deletion of rows. Returns false if another process has started that, or has unlocked the service. */
export const startPurge = async (db: Db, service: Service): Promise<boolean> =>
  (await db.run(
    sql`update service set deletion_state = 'purging' where service_id = ${service.id} and deletion_state = 'locked'`,
  )) > 0

/** Deletes the service with its remaining rows and its exclusive accounts. Returns the usernames of these accounts. */
export const deleteService = (db: Database, service: Pick<Service, 'id'>) =>
  db.transaction(async tx => {
    const isDeleted = sql`service_id = ${service.id}`
    await tx.run(sql`select from service where ${isDeleted} for update`)
    await tx.run(
      sql`select from account where username in (select username from account_service where ${isDeleted}) order by username for update`,
    )
    const usernames = await listExclusiveAccounts(tx, service)
    await tx.run(sql`delete from account where username = any(${usernames})`)
    await tx.run(sql`delete from request_block where ${isDeleted}`)
    await tx.run(sql`delete from request_minute where ${isDeleted}`)
    await tx.run(sql`delete from service where ${isDeleted}`)
    return usernames
  })

/**
 * Prevents other processes from deleting this service until the returned function is called or this process ends. Throws if another process
 * is deleting it. The lock belongs to a transaction, because a pooler can lend the connection of a session lock to others.
 */
export async function lockDeletion(control: Database, service: Service): Promise<() => Promise<void>> {
  const { client, withTimeout, markReusable, end } = await openDedicatedConnection(control)
  try {
    // The service's number comes second in the lock key: keys with the number first are writer locks, which `waitForWriters` waits for.
    const { rows } = await withTimeout(
      client.query<{ isLocked: boolean }>(`select pg_try_advisory_xact_lock(hashtext('removal'), $1) as "isLocked"`, [
        service.id,
      ]),
    )
    markReusable()
    if (!rows[0]?.isLocked) throw new Error(`Service ${service.name} is being removed by another process.`)
    return end
  } catch (error) {
    await end()
    throw error
  }
}
