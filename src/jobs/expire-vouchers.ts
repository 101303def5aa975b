import { expireVouchers as expire } from '../store/voucher-standing.ts'
import type { Work } from './job.ts'

/** Writes down which vouchers are past their last day; they could not be used any more before that. */
export async function expireVouchers({ db, log }: Work): Promise<void> {
  const expired = await expire(db)
  if (expired) log.info({ expired }, 'Vouchers have expired.')
}
