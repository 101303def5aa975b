import { expireVouchers as expire } from '../backoffice/embedded/vouchers/decisions.ts'
import type { JobRun } from './job.ts'

/**
 * Marks vouchers whose last day is past: they could not be used any more before, either. Each is marked in a transaction of its own: where
 * this is killed some are, and done twice it finds the others alone.
 */
export async function expireVouchers({ db, log }: JobRun): Promise<void> {
  const expired = await expire(db)
  if (expired) log.info({ expired }, 'vouchers expired')
}
