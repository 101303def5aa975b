import { expireVouchers } from '../backoffice/embedded/vouchers/decisions.ts'
import type { JobRun } from './job.ts'

/**
 * Marks vouchers as expired after their last day. They can't be used even before that. Each voucher is marked in its own transaction, so a
 * killed run is resumed by the next one.
 */
export async function markExpiredVouchers({ db, log }: JobRun): Promise<void> {
  const expired = await expireVouchers(db)
  if (expired) log.info({ expired }, 'vouchers expired')
}
