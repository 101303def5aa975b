import type { BackOffice } from '../../domain/port/backoffice.ts'
import type { Service } from '../../settings.ts'
import { capabilitiesOf, configured } from './capabilities.ts'
import { customerWrites } from './customers.ts'
import { orderWrites } from './orders.ts'
import { rewardReads } from './rewards.ts'
import { voucherWrites } from './vouchers/vouchers.ts'

/** The back office whose system of record are our own tables. It answers as the release that the service is set to. */
export const embedded = (service: Service): BackOffice => ({
  ...customerWrites,
  ...orderWrites,
  ...voucherWrites,
  ...rewardReads,
  capabilities: async db => capabilitiesOf(service, db && (await configured(db, service))),
})
