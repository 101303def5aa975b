import { expireVouchers as expire } from '../backoffice/embedded/vouchers/standing.ts'
import { forgetUpstreamVouchers } from '../store/vouchers/upstream.ts'
import type { Work } from './job.ts'

/**
 * Marks vouchers whose last day is past: they could not be used any more before, either. Forgets what is known of a back office's vouchers
 * where nobody can have any use for it.
 */
export async function expireVouchers({ db, log }: Work): Promise<void> {
  const expired = await expire(db)
  if (expired) log.info({ expired }, 'Vouchers have expired.')
  await forgetUpstreamVouchers(db)
}
