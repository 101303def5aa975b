import type { RewardAccount } from '../../../domain/rewards/rewards.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals, parseAmount } from '../../../domain/values/money.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { RewardReads } from '../../port/rewards.ts'
import type { Client } from '../client/client.ts'
import { parseAccount, parseLots } from '../mapping/rewards.ts'
import { isId } from '../queries/is-id.ts'
import { fetchPersonById } from '../queries/persons.ts'
import type { Upstream } from '../queries/upstream.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElement, findElements, readAmount, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Reward accounts as the back office has them at this moment. Nothing that was stored stands in for it: a balance is true, or not told. */
export const createRewardReads = ({ client }: Upstream): RewardReads => ({
  async rewardAccount({ service }, by) {
    const id = 'id' in by ? by.id : await fetchAccountId(client, by.customerId)
    if (id === undefined || !isId(id)) return
    const path = ['Rewards', 'Accounts', id]
    const found = await client.document({ endpoint: 'rewards', path, version: 1, roots: ['RewardAccount'] })
    return found && { record: JSON.stringify(convertAccount(found, service)) }
  },
})

/** There is no look-up of accounts by person: a person names their account. */
async function fetchAccountId(client: Client, customerId: string): Promise<string | undefined> {
  const person = await fetchPersonById(client, customerId)
  return readText(findElement(person, 'RewardsAccounts', 'Account'), 'Id') ?? undefined
}

function convertAccount(account: Xml, service: Service): RewardAccount {
  try {
    return parseRewardAccount(account, service.settings.currency)
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error
    throw Object.assign(new ApiError('back_office_error'), { cause: error })
  }
}

/** An account with its open lots. Balances are the sums of what the lots have left. */
export function parseRewardAccount(account: Xml, currency: string): RewardAccount {
  const decimals = getDecimals(currency)
  const { id, customerId, programId, tierId, tierLockedUntilDate, joinDate } = parseAccount(
    account,
    decimals,
    new Map(),
  )
  const { lots } = parseLots(account, decimals)
  const giftNames = new Map(
    findElements(account, 'GiftList', 'Gift').map(gift => [readText(gift, 'GiftId'), readText(gift, 'GiftName')]),
  )
  const counted = (kind: 'points' | 'reward', places: number) =>
    lots
      .filter(lot => lot.kind === kind)
      .map(lot => {
        const units = (given: string | null | undefined) => parseAmount(given ?? '0', places) ?? 0n
        const { lotId, createdAt, description = null, expiryDate = null } = lot
        const [total, redeemed, pending] = [units(lot.total), units(lot.redeemed), units(lot.pending)]
        return {
          lot: { id: lotId, createdAt, description },
          expiryDate,
          total,
          redeemed,
          pending,
          available: total - redeemed - pending,
        }
      })
  const points = counted('points', 0)
  const rewards = counted('reward', decimals)
  const sum = (some: readonly { available: bigint }[]) => some.reduce((all, { available }) => all + available, 0n)
  const atLeastNone = (value: number | null) => (value !== null && value >= 0 ? value : null)
  const inMoney = (units: bigint) => formatAmount(units, decimals)
  return {
    id,
    customerId,
    programId,
    programName: readText(account, 'ProgramName') ?? programId,
    tierId: tierId ?? null,
    tierName: readText(account, 'TierName'),
    tierLockedUntilDate: tierLockedUntilDate ?? null,
    joinDate: joinDate ?? null,
    currency,
    availablePoints: Number(sum(points)),
    availableRewards: inMoney(sum(rewards)),
    pointsToNextReward: atLeastNone(readInteger(account, 'PointsToNextReward')),
    spendToNextTier: readAmount(account, decimals, 'SpendToNextTier'),
    nextTierId: readText(account, 'NextTierId'),
    points: points.map(({ lot, total, redeemed, pending, available, expiryDate }) => ({
      ...lot,
      total: Number(total),
      redeemed: Number(redeemed),
      pending: Number(pending),
      available: Number(available),
      expiryDate,
    })),
    rewards: rewards.map(({ lot, total, redeemed, pending, available, expiryDate }) => ({
      ...lot,
      total: inMoney(total),
      redeemed: inMoney(redeemed),
      pending: inMoney(pending),
      available: inMoney(available),
      expiryDate,
    })),
    gifts: lots
      .filter(lot => lot.kind === 'gift')
      .map(({ lotId, giftId = null, redeemed, expiryDate = null, description = null }) => ({
        id: lotId,
        giftId,
        name: giftNames.get(giftId) ?? description,
        available: redeemed === '0',
        expiryDate,
      })),
  }
}
