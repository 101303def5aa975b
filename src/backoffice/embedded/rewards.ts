import { awaitAtCommit } from '../../database/db.ts'
import {
  allocateRedemption,
  canAct,
  checkAccountRedemptions,
  type Redemption,
  type RedemptionAction,
  type RewardRedemption,
  requireSameRedemption,
} from '../../domain/rewards/redemptions.ts'
import { ApiError, notFound } from '../../errors/api-error.ts'
import { lockRewardAccountById } from '../../store/rewards/ledger.ts'
import {
  countRedemptions,
  debitRedemption,
  insertRedemption,
  lockRedemption,
  readOpenLots,
  readRedemption,
  setRedemptionStatus,
  settleOwedPoints,
  touchRewardAccount,
} from '../../store/rewards/redemptions.ts'
import type { WithTransaction } from '../../writes/write.ts'

/** Reserves points or rewards from an account's lots. Locks the account first, so that its redemptions run one after another. */
export async function redeemRewards(
  { tx, service, username }: WithTransaction,
  { seconds, ...redemption }: Redemption & { seconds: number },
): Promise<RewardRedemption> {
  const account = await lockRewardAccountById(tx, service, redemption.accountId)
  if (!account) throw notFound('reward account')
  const stored = await lockRedemption(tx, service, redemption.requestId)
  if (stored) requireSameRedemption(stored, redemption)
  else {
    const error = checkAccountRedemptions(await countRedemptions(tx, service, username))
    if (error) throw error
    const lots = await readOpenLots(tx, service, account, redemption.kind)
    const owed = { pointsOwed: BigInt(account.pointsOwed), currency: service.settings.currency }
    const parts = allocateRedemption(redemption, lots, owed)
    insertRedemption(tx, service, redemption, { username, seconds, status: 'pending' }, parts)
    touchRewardAccount(tx, service, account.id)
  }
  return readRedemption(tx, service, redemption)
}

/** Confirms a redemption, which debits its lots, or cancels it. Locks the account first. */
export async function endRedemption(
  { tx, service }: WithTransaction,
  key: Pick<Redemption, 'accountId' | 'requestId'>,
  action: RedemptionAction,
): Promise<RewardRedemption> {
  await lockRewardAccountById(tx, service, key.accountId)
  const stored = await lockRedemption(tx, service, key.requestId)
  if (stored?.accountId !== key.accountId) throw notFound('redemption')
  if (canAct(action, stored.status)) {
    if (action === 'confirm' && !(await debitRedemption(tx, service, stored)))
      throw new ApiError(
        'insufficient_rewards',
        'An import has changed the account since the reservation. Cancel the redemption.',
      )
    setRedemptionStatus(tx, service, key, action === 'confirm' ? 'confirmed' : 'cancelled')
    if (action === 'cancel') awaitAtCommit(settleOwedPoints(tx, service, [key.requestId]))
    touchRewardAccount(tx, service, key.accountId)
  }
  return readRedemption(tx, service, key)
}
