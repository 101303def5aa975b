import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A driver's reads of reward accounts. */
export interface RewardReads {
  /** Returns the current account (`RewardAccount`) as JSON. Returns undefined if the account or the customer does not exist. */
  rewardAccount(
    reading: { db: Db; service: Service },
    by: { id: string } | { customerId: string },
  ): Promise<{ record: string } | undefined>
}
