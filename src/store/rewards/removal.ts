import { type Database, sql } from '../../database/db.ts'
import type { RemovedAccounts } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { lockRewardAccounts } from './rewards.ts'

/**
 * Removes reward accounts that the back office no longer has, with their contents and scheduled refreshes. Returns the number of removed
 * accounts.
 */
export async function removeRewardAccounts(
  db: Database,
  service: Service,
  removed: readonly RemovedAccounts[],
): Promise<number> {
  const storedAccounts = await db.rows<{ id: string }>(sql`
    select a.id from json_to_recordset(${JSON.stringify(removed)}) as g ("accountId" text, "customerId" text, has jsonb)
      join reward_account a on a.service_id = ${service.id}
           and (a.id = g."accountId" or a.customer_id = g."customerId" and not g.has ? a.id)`)
  const ids = [
    ...storedAccounts.map(({ id }) => id),
    ...removed.flatMap(account => ('accountId' in account ? account.accountId : [])),
  ]
  if (!ids.length) return 0
  return db.transaction(async tx => {
    const isRemoved = sql`id = any(${ids})`
    await lockRewardAccounts(tx, service, sql`and ${isRemoved}`)
    const change = await beginChange(tx, service, ['reward_account'])
    await tx.run(
      sql`delete from sync_refresh where service_id = ${service.id} and sync = 'reward-accounts' and ${isRemoved}`,
    )
    return removeRecords(tx, service, change, { list: 'reward_account', id: sql`id`, where: isRemoved })
  })
}
