import type { Database } from '../../database/db.ts'
import { openDedicatedConnection } from '../../database/dedicated-connection.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/**
 * Keeps every other process from removing this service until the answer is called, or this process ends. Throws where somebody does so
 * already. Behind a pooler a connection alone would be another one's too: it is held by a transaction.
 */
export async function holdRemoval(control: Database, service: Service): Promise<() => Promise<void>> {
  const { client, withTimeout, markReusable, end } = await openDedicatedConnection(control)
  try {
    // The number of the service second: locks that have it first are those of its writers, who are waited for.
    const { rows } = await withTimeout(
      client.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock(hashtext('removal'), $1) as taken`, [
        service.id,
      ]),
    )
    markReusable()
    if (!rows[0]?.taken) throw new Error(`Somebody else removes the service ${service.name} right now.`)
    return end
  } catch (error) {
    await end()
    throw error
  }
}
