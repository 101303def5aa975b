import type { RewardAccount } from '../../../domain/rewards/rewards.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals, parseAmount } from '../../../domain/values/money.ts'
import { ApiError } from '../../../errors/api-error.ts'
import type { RewardReads } from '../../port/rewards.ts'
import type { Client } from '../client/client.ts'
import { isId } from '../client/request.ts'
import { parseAccount, parseLots } from '../mapping/rewards.ts'
import { fetchPersonById } from '../queries/persons.ts'
import type { Upstream } from '../queries/upstream.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElement, findElements, readAmount, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Reads reward accounts directly from the back office. A stored account is never a substitute, because balances must be current. */
export const createRewardReads = ({ client }: Upstream): RewardReads => ({
  async rewardAccount({ service }, by) {
    const id = 'id' in by ? by.id : await fetchAccountId(client, by.customerId)
    if (id === undefined || !isId(id)) return
    const path = ['Rewards', 'Accounts', id]
    const account = await client.document({ endpoint: 'rewards', path, version: 1, roots: ['RewardAccount'] })
    return account && { record: JSON.stringify(convertAccount(account, service)) }
  },
})

/** Returns the account identifier of a person. The Retail API can't look up accounts by person, but the person contains it. */
async function fetchAccountId(client: Client, customerId: string): Promise<string | undefined> {
  const person = await fetchPersonById(client, customerId)
  return readText(findElement(person, 'RewardsAccounts', 'Account'), 'Id') ?? undefined
}

/** Converts an account. Throws `back_office_error` if it is invalid. */
export function convertAccount(account: Xml, service: Service): RewardAccount {
  try {
    return parseRewardAccount(account, service.settings.currency)
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error
    throw Object.assign(new ApiError('back_office_error'), { cause: error })
  }
}

/** Parses an account with its open lots. A balance is the sum of the lots' available amounts. */
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
  const toLots = (kind: 'points' | 'reward', places: number) =>
    lots
      .filter(lot => lot.kind === kind)
      .map(lot => {
        const toUnits = (value: string | null | undefined) => parseAmount(value ?? '0', places) ?? 0n
        const { lotId, createdAt, description = null, expiryDate = null } = lot
        const [total, redeemed, pending] = [toUnits(lot.total), toUnits(lot.redeemed), toUnits(lot.pending)]
        return {
          lot: { id: lotId, createdAt, description },
          expiryDate,
          total,
          redeemed,
          pending,
          available: total - redeemed - pending,
        }
      })
  const points = toLots('points', 0)
  const rewards = toLots('reward', decimals)
  const sum = (list: readonly { available: bigint }[]) => list.reduce((total, { available }) => total + available, 0n)
  const toNonNegative = (value: number | null) => (value !== null && value >= 0 ? value : null)
  const toAmount = (units: bigint) => formatAmount(units, decimals)
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
    availableRewards: toAmount(sum(rewards)),
    pointsToNextReward: toNonNegative(readInteger(account, 'PointsToNextReward')),
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
      total: toAmount(total),
      redeemed: toAmount(redeemed),
      pending: toAmount(pending),
      available: toAmount(available),
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
