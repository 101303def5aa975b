import { expireVouchers as expire } from '../backoffice/embedded/vouchers/standing.ts'
import { forgetUpstreamVouchers } from '../store/vouchers/upstream.ts'
import type { Work } from './job.ts'

/**
 * Writes down which vouchers are past their last day; they could not be used any more before that. Forgets what is known of vouchers of a
 * back office behind us, where nobody can have any use for it.
 */
export async function expireVouchers({ db, log }: Work): Promise<void> {
  const expired = await expire(db)
  if (expired) log.info({ expired }, 'Vouchers have expired.')
  await forgetUpstreamVouchers(db)
}
