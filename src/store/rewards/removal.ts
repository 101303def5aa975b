import { type Database, sql } from '../../database/db.ts'
import type { RemovedAccounts } from '../../domain/sync/port.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { beginChange } from '../lists/change-timestamp.ts'
import { removeRecords } from '../lists/tombstones.ts'
import { holdRewardAccounts } from './rewards.ts'

/** Takes away reward accounts that the back office has no more, with all that is in them; nobody visits them again. Returns how many there were. */
export async function removeRewardAccounts(
  db: Database,
  service: Service,
  gone: readonly RemovedAccounts[],
): Promise<number> {
  const found = await db.rows<{ id: string }>(sql`
    select a.id from json_to_recordset(${JSON.stringify(gone)}) as g ("accountId" text, "customerId" text, has jsonb)
      join reward_account a on a.service_id = ${service.id}
           and (a.id = g."accountId" or a.customer_id = g."customerId" and not g.has ? a.id)`)
  const ids = [...found.map(({ id }) => id), ...gone.flatMap(one => ('accountId' in one ? one.accountId : []))]
  if (!ids.length) return 0
  return db.transaction(async tx => {
    const which = sql`id = any(${ids})`
    await holdRewardAccounts(tx, service, sql`and ${which}`)
    const change = await beginChange(tx, service, ['reward_account'])
    await tx.run(
      sql`delete from sync_refresh where service_id = ${service.id} and sync = 'reward-accounts' and ${which}`,
    )
    return removeRecords(tx, service, change, { list: 'reward_account', id: sql`id`, where: which })
  })
}
