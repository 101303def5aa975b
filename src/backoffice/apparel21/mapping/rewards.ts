import type { SyncRows } from '../../../domain/sync/port.ts'
import { formatAmount, parseAmount } from '../../../domain/values/money.ts'
import { InvalidRecord } from '../xml/invalid-record.ts'
import { findElements, readAmount, readBoolean, readDate, readInteger, readLocalTime, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Points, a reward or a gift that an account received at one time. */
type Lot = SyncRows['rewardLots']['lots'][number]

/** Returns null for zero and negative values, which mean "not set". */
const toPositive = (value: number | null) => (value !== null && value > 0 ? value : null)
/** Returns null for negative values. Zero is a valid value. */
const toNonNegative = (value: number | null) => (value !== null && value >= 0 ? value : null)

/** Returns the first identifier with one of these names. Throws `InvalidRecord` if there isn't one. */
function readId(element: Xml, label: string, ...names: string[]): string {
  for (const name of names) {
    const id = readText(element, name)
    if (id) return id
  }
  throw new InvalidRecord(`${label} has no identifier.`)
}

/** Parses the tiers of a program, one row per tier. */
export function parseTiers(program: Xml, decimals: number): SyncRows['rewardPrograms'][] {
  const programId = readId(program, 'A rewards program', 'Id')
  const shared = {
    programId,
    name: readText(program, 'Name') ?? programId,
    description: readText(program, 'Description'),
  }
  const rows = findElements(program, 'Tiers', 'Tier').map((tier, i) => {
    const tierId = readId(tier, 'A tier', 'Id')
    return {
      program: shared,
      tier: {
        programId,
        tierId,
        name: readText(tier, 'Name') ?? tierId,
        sequence: readInteger(tier, 'Sequence') ?? i + 1,
        accrualSpend: readAmount(tier, decimals, 'AccrualSpend'),
        accrualPoints: toNonNegative(readInteger(tier, 'AccrualPoints')),
        autoRewardPointThreshold: toPositive(readInteger(tier, 'AutoRewardPointThreshold')),
        autoRewardValue: readAmount(tier, decimals, 'AutoRewardValue'),
        qualifySpend: readAmount(tier, decimals, 'QualifySpend'),
        qualifyMonths: toNonNegative(readInteger(tier, 'QualifyPeriod', 'Months')),
        qualifyDays: toNonNegative(readInteger(tier, 'QualifyPeriod', 'Days')),
        pointsExpiryMonths: toNonNegative(readInteger(tier, 'DefaultPointsExpiry', 'Months')),
        pointsExpiryDays: toNonNegative(readInteger(tier, 'DefaultPointsExpiry', 'Days')),
        rewardExpiryMonths: toNonNegative(readInteger(tier, 'DefaultRewardExpiry', 'Months')),
        rewardExpiryDays: toNonNegative(readInteger(tier, 'DefaultRewardExpiry', 'Days')),
      },
    }
  })
  if (!rows.length) throw new InvalidRecord('A rewards program has no tier.')
  return rows
}

export function parseGifts(program: Xml): SyncRows['rewardGifts'][] {
  const programId = readId(program, 'A rewards program', 'Id')
  return findElements(program, 'Gifts', 'Gift').map(gift => {
    const giftId = readId(gift, 'A gift', 'Id')
    return {
      programId,
      giftId,
      name: readText(gift, 'Name') ?? readText(gift, 'Description') ?? giftId,
      styles: findElements(gift, 'GiftStyles', 'Style').flatMap(style => readText(style, 'Code') ?? []),
    }
  })
}

/** The spend that qualifies for each tier, by program and tier, in minor units. */
export type QualifyingSpends = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/**
 * Parses a reward account. The qualifying spend is the next tier's qualifying spend minus the spend to that tier. If either is unknown, the
 * field is omitted, so that the stored value stays.
 */
export function parseAccount(account: Xml, decimals: number, qualifying: QualifyingSpends): SyncRows['rewardAccounts'] {
  const id = readId(account, 'A reward account', 'Id')
  const [customerId, programId] = [readText(account, 'PersonId'), readText(account, 'ProgramId')]
  if (!customerId || !programId) throw new InvalidRecord('A reward account has no person or no program.')
  const next = qualifying.get(programId)?.get(readText(account, 'NextTierId') ?? '')
  const missingSpend = parseAmount(readAmount(account, decimals, 'SpendToNextTier') ?? '', decimals)
  return {
    id,
    customerId,
    programId,
    tierId: readText(account, 'TierId'),
    tierLockedUntilDate: readDate(account, 'TierLockedUntilDate'),
    joinDate: readDate(account, 'JoinDate'),
    ...(next !== undefined &&
      missingSpend !== undefined && {
        qualifyingSpend: formatAmount(next > missingSpend ? next - missingSpend : 0n, decimals),
      }),
  }
}

export function parseLots(account: Xml, decimals: number): SyncRows['rewardLots'] {
  const accountId = readId(account, 'A reward account', 'Id')
  // Rewards and gifts can lack their time of issue. It can't be earlier than the join date.
  const joinedAt = readLocalTime(account, 'JoinDate')
  const parseCommon = (lot: Xml, kind: Lot['kind'], ...names: string[]) => {
    const createdAt = readLocalTime(lot, 'CreatedDateTime') ?? joinedAt
    const expires = readText(lot, 'ExpiryDate')
    if (!createdAt || (expires && !readDate(lot, 'ExpiryDate')))
      throw new InvalidRecord('Points, a reward or a gift have no time of issue, or an invalid expiry date.')
    return {
      accountId,
      kind,
      lotId: readId(lot, 'Points, a reward or a gift', ...names),
      createdAt,
      expiryDate: readDate(lot, 'ExpiryDate'),
    }
  }
  const parseCounted = (lot: Xml, kind: Lot['kind'], places: number, ...names: string[]): Lot => {
    const total = readAmount(lot, places, 'Total')
    if (total === null) throw new InvalidRecord('Points or a reward have no total.')
    return {
      ...parseCommon(lot, kind, ...names),
      total,
      description: readText(lot, 'Description'),
      redeemed: readAmount(lot, places, 'Redeemed') ?? '0',
      pending: readAmount(lot, places, 'PendingRedemption') ?? '0',
    }
  }
  return {
    accountId,
    lots: [
      ...findElements(account, 'PointsList', 'Accrual').map(lot =>
        parseCounted(lot, 'points', 0, 'AccrualId', 'IssueId', 'Id'),
      ),
      ...findElements(account, 'RewardsList', 'Reward').map(lot =>
        parseCounted(lot, 'reward', decimals, 'RewardId', 'IssueId', 'Id'),
      ),
      ...findElements(account, 'GiftList', 'Gift').map(gift => ({
        ...parseCommon(gift, 'gift', 'IssueId', 'GiftIssueId', 'Id'),
        description: readText(gift, 'GiftName') ?? readText(gift, 'Description'),
        giftId: readText(gift, 'GiftId'),
        total: '1',
        redeemed: readBoolean(gift, 'Available') === false ? '1' : '0',
        pending: '0',
      })),
    ],
  }
}
