import type { Database } from '../../database/db.ts'
import { openDedicatedConnection } from '../../database/dedicated-connection.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

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
