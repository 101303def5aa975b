import type { BackOffice } from '../domain/backoffice.ts'
import type { Service } from '../settings.ts'
import { capabilitiesOf, configured } from './embedded/capabilities.ts'
import { customerWrites } from './embedded/customers.ts'
import { orderWrites } from './embedded/orders.ts'
import { rewardReads } from './embedded/rewards.ts'
import { voucherWrites } from './embedded/vouchers.ts'

/** The back office whose system of record are our own tables. It answers as the release that the service is set to. */
export const embedded = (service: Service): BackOffice => ({
  ...customerWrites,
  ...orderWrites,
  ...voucherWrites,
  ...rewardReads,
  capabilities: async db => capabilitiesOf(service, db && (await configured(db, service))),
})
