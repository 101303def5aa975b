import type { SyncRows } from '../../../domain/sync/port.ts'
import { amount, minorUnits } from '../../../domain/values/money.ts'
import { Untranslatable } from '../xml/untranslatable.ts'
import { day, every, flag, localTime, money, text, whole } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

type Lot = SyncRows['rewardLots']['lots'][number]

/** What is negative, or of no length, says nothing. */
const positive = (value: number | null) => (value !== null && value > 0 ? value : null)
const atLeastNone = (value: number | null) => (value !== null && value >= 0 ? value : null)

function idIn(element: Xml, what: string, ...names: string[]): string {
  for (const name of names) {
    const id = text(element, name)
    if (id) return id
  }
  throw new Untranslatable(`${what} has no identifier.`)
}

/** The tiers of a programme, one row each. */
export function tierRowsFrom(program: Xml, decimals: number): SyncRows['rewardPrograms'][] {
  const programId = idIn(program, 'A rewards programme', 'Id')
  const shared = { programId, name: text(program, 'Name') ?? programId, description: text(program, 'Description') }
  const rows = every(program, 'Tiers', 'Tier').map((tier, i) => {
    const tierId = idIn(tier, 'A tier', 'Id')
    return {
      program: shared,
      tier: {
        programId,
        tierId,
        name: text(tier, 'Name') ?? tierId,
        sequence: whole(tier, 'Sequence') ?? i + 1,
        accrualSpend: money(tier, decimals, 'AccrualSpend'),
        accrualPoints: atLeastNone(whole(tier, 'AccrualPoints')),
        autoRewardPointThreshold: positive(whole(tier, 'AutoRewardPointThreshold')),
        autoRewardValue: money(tier, decimals, 'AutoRewardValue'),
        qualifySpend: money(tier, decimals, 'QualifySpend'),
        qualifyMonths: atLeastNone(whole(tier, 'QualifyPeriod', 'Months')),
        qualifyDays: atLeastNone(whole(tier, 'QualifyPeriod', 'Days')),
        pointsExpiryMonths: atLeastNone(whole(tier, 'DefaultPointsExpiry', 'Months')),
        pointsExpiryDays: atLeastNone(whole(tier, 'DefaultPointsExpiry', 'Days')),
        rewardExpiryMonths: atLeastNone(whole(tier, 'DefaultRewardExpiry', 'Months')),
        rewardExpiryDays: atLeastNone(whole(tier, 'DefaultRewardExpiry', 'Days')),
      },
    }
  })
  if (!rows.length) throw new Untranslatable('A rewards programme has no tier.')
  return rows
}

export function giftRowsFrom(program: Xml): SyncRows['rewardGifts'][] {
  const programId = idIn(program, 'A rewards programme', 'Id')
  return every(program, 'Gifts', 'Gift').map(gift => {
    const giftId = idIn(gift, 'A gift', 'Id')
    return {
      programId,
      giftId,
      name: text(gift, 'Name') ?? text(gift, 'Description') ?? giftId,
      styles: every(gift, 'GiftStyles', 'Style').flatMap(style => text(style, 'Code') ?? []),
    }
  })
}

/** What must be spent for each tier: by programme and tier, in minor units. */
export type Qualifying = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** A reward account. What was spent is told by what is left to spend for the next tier. */
export function accountFrom(account: Xml, decimals: number, qualifying: Qualifying): SyncRows['rewardAccounts'] {
  const id = idIn(account, 'A reward account', 'Id')
  const [customerId, programId] = [text(account, 'PersonId'), text(account, 'ProgramId')]
  if (!customerId || !programId) throw new Untranslatable('A reward account has no person or no programme.')
  const next = qualifying.get(programId)?.get(text(account, 'NextTierId') ?? '')
  const left = minorUnits(money(account, decimals, 'SpendToNextTier') ?? '', decimals)
  return {
    id,
    customerId,
    programId,
    tierId: text(account, 'TierId'),
    tierLockedUntilDate: day(account, 'TierLockedUntilDate'),
    joinDate: day(account, 'JoinDate'),
    ...(next !== undefined &&
      left !== undefined && { qualifyingSpend: amount(next > left ? next - left : 0n, decimals) }),
  }
}

/** The open lots of a reward account. */
export function lotsFrom(account: Xml, decimals: number): SyncRows['rewardLots'] {
  const accountId = idIn(account, 'A reward account', 'Id')
  // Rewards and gifts may not say when they were issued: it was no earlier than this.
  const joined = localTime(account, 'JoinDate')
  const common = (lot: Xml, kind: Lot['kind'], ...names: string[]) => {
    const createdAt = localTime(lot, 'CreatedDateTime') ?? joined
    const expires = text(lot, 'ExpiryDate')
    if (!createdAt || (expires && !day(lot, 'ExpiryDate')))
      throw new Untranslatable('Points, a reward or a gift have no time of issue, or an expiry that is no date.')
    return {
      accountId,
      kind,
      lotId: idIn(lot, 'Points, a reward or a gift', ...names),
      createdAt,
      expiryDate: day(lot, 'ExpiryDate'),
    }
  }
  const counted = (lot: Xml, kind: Lot['kind'], places: number, ...names: string[]): Lot => {
    const total = money(lot, places, 'Total')
    if (total === null) throw new Untranslatable('Points or a reward have no total.')
    return {
      ...common(lot, kind, ...names),
      total,
      description: text(lot, 'Description'),
      redeemed: money(lot, places, 'Redeemed') ?? '0',
      pending: money(lot, places, 'PendingRedemption') ?? '0',
    }
  }
  return {
    accountId,
    lots: [
      ...every(account, 'PointsList', 'Accrual').map(lot => counted(lot, 'points', 0, 'AccrualId', 'IssueId', 'Id')),
      ...every(account, 'RewardsList', 'Reward').map(lot =>
        counted(lot, 'reward', decimals, 'RewardId', 'IssueId', 'Id'),
      ),
      ...every(account, 'GiftList', 'Gift').map(gift => ({
        ...common(gift, 'gift', 'IssueId', 'GiftIssueId', 'Id'),
        description: text(gift, 'GiftName') ?? text(gift, 'Description'),
        giftId: text(gift, 'GiftId'),
        total: '1',
        redeemed: flag(gift, 'Available') === false ? '1' : '0',
        pending: '0',
      })),
    ],
  }
}
