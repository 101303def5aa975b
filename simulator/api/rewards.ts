import { ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { isoText, readWall } from '../shop/clock.ts'
import { rewardReasons } from '../shop/records.ts'
import type { Lot, Program, RewardAccount, RewardTransaction, Tier } from '../shop/sales.ts'
import { cents, type Shop, sum } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { array, type Element, el, fields } from '../xml/element.ts'
import { today } from './persons.ts'

const period = (name: string, months?: number, days?: number) => el(name, fields({ Months: months, Days: days }))

const tierElement = (tier: Tier, program: Program): Element =>
  el('Tier', [
    ...fields({
      Id: tier.id,
      Name: tier.name,
      Description: '',
      Sequence: tier.sequence,
      AccrualSpend: 1,
      AccrualPoints: 1,
    }),
    ...fields({
      AutoRewardPointThreshold: program.threshold,
      AutoRewardValue: program.rewardValue,
      AutoRewardGiftId: '',
    }),
    ...fields({ TierPointsBonus: tier.bonus, TierRewardsBonus: 0, TierGiftBonusId: '' }),
    period('DefaultPointsExpiry', 12, 0),
    period('DefaultRewardExpiry'),
    period('PreventDemotionPeriod'),
    el('QualifySpend', tier.qualifySpend),
    period('QualifyPeriod'),
    el('MinimumSpendToRedeem', program.minimumSpend),
  ])

const programElement = (program: Program, shop: Shop): Element =>
  el('Program', [
    ...fields({ Id: program.id, Name: program.name, Description: program.description, Currency: program.currency }),
    array(
      'Tiers',
      program.tiers.map(tier => tierElement(tier, program)),
    ),
    array(
      'Gifts',
      program.gifts.map(gift =>
        el('Gift', [
          ...fields({ Id: gift.id, Name: gift.name, Description: '' }),
          array(
            'GiftStyles',
            gift.styleIds.map(id => {
              const style = shop.styles.get(id)
              return el('Style', fields({ Id: id, Code: style?.code, Name: style?.name }))
            }),
          ),
        ]),
      ),
    ),
  ])

export const rewardPrograms: Handler = ({ parameters }, { shop }) => {
  const programs = [...shop.programs.values()].filter(
    ({ id }) => parameters[0] === undefined || id === whole(parameters[0]),
  )
  if (!programs.length) throw nothing()
  return ok(
    el(
      'RewardPrograms',
      programs.map(program => programElement(program, shop)),
    ),
  )
}

export const free = (lot: Lot) => cents(lot.total - lot.redeemed - lot.pending)

const lotFields = (lot: Lot): Element[] => [
  ...fields({ CreatedDateTime: isoText(lot.created), Description: lot.description, Total: lot.total }),
  ...fields({ Redeemed: lot.redeemed, PendingRedemption: lot.pending, Available: free(lot), ExpiryDate: lot.expires }),
]

function reason(id: string, shop: Shop): Element {
  const reference = shop.referenceTypes.get(rewardReasons)?.references.get(Number(id))
  return el('IssueReason', fields({ Id: id, Code: reference?.code, Name: reference?.name }))
}

/** An account; what has expired is not listed and does not count. */
export function accountElement(account: RewardAccount, world: World): Element {
  const { shop } = world
  const unexpired = <T extends { expires: string }>(lots: T[]) =>
    lots.filter(lot => lot.expires === '' || lot.expires >= today(world))
  const program = shop.programs.get(account.programId)
  const tiers = program?.tiers ?? []
  const tier = tiers.find(({ id }) => id === account.tierId)
  const following = tiers.find(({ sequence }) => sequence === (tier?.sequence ?? 0) + 1)
  const points = sum(unexpired(account.points).map(free))
  const missing = program ? cents(program.threshold - (points % program.threshold)) : undefined
  return el('RewardAccount', [
    ...fields({
      Id: account.id,
      ProgramId: account.programId,
      ProgramName: program?.name,
      Currency: program?.currency,
    }),
    ...fields({ TierId: account.tierId, TierName: tier?.name, PersonId: account.personId }),
    ...fields({ TierLockedUntilDate: account.tierLockedUntil, AvailablePoints: points }),
    ...fields({ AvailableRewards: sum(unexpired(account.rewards).map(free)), JoinDate: account.joined }),
    ...fields({ TierJoinDate: account.tierJoined, PointsToNextReward: missing, SpendToNextReward: missing }),
    ...fields({ NextTierId: following?.id }),
    ...fields({ SpendToNextTier: following && Math.max(0, cents(following.qualifySpend - account.spend)) }),
    array(
      'PointsList',
      unexpired(account.points).map(lot => el('Accrual', [el('AccrualId', lot.id), ...lotFields(lot)])),
    ),
    array(
      'RewardsList',
      unexpired(account.rewards).map(lot =>
        el('Reward', [el('RewardId', lot.id), ...lotFields(lot), reason(lot.reasonId, shop)]),
      ),
    ),
    array(
      'GiftList',
      unexpired(account.gifts).map(gift =>
        el('Gift', [
          ...fields({ IssueId: gift.id, CreatedDateTime: isoText(gift.created), Description: gift.description }),
          ...fields({ GiftId: gift.giftId, GiftName: program?.gifts.find(({ id }) => id === gift.giftId)?.name }),
          ...fields({ Available: gift.available, ExpiryDate: gift.expires }),
          reason(gift.reasonId, shop),
        ]),
      ),
    ),
  ])
}

/** The account in the path. If it doesn't exist, the code differs from "no data". */
export function accountOf({ parameters }: ApiRequest, { shop }: World): RewardAccount {
  const account = shop.accounts.get(whole(parameters[0]) ?? 0)
  if (!account) throw createRejection(5152)
  return account
}

export const oneAccount: Handler = (request, world) => ok(accountElement(accountOf(request, world), world))

const transactionElement = ({ at, description, source, reference, spend, points, reward }: RewardTransaction) =>
  el('Transaction', [
    ...fields({ TransactionDateTime: isoText(at), Description: description, Source: source, Reference: reference }),
    ...fields({ Spend: spend, ForeignSpend: '', ForeignCurrency: '', Points: points, RewardAmount: reward }),
    ...fields({ GiftId: '', GiftName: '', NewGift: '', RedeemedGiftSkuId: '', Confirmed: true }),
  ])

export const accountTransactions: Handler = (request, world) => {
  const account = accountOf(request, world)
  const text = request.query('fromDate')
  const from = text ? readWall(text) : Number.NEGATIVE_INFINITY
  if (from === undefined || (text && text.length !== 10)) throw createRejection(5099)
  const rows = account.transactions.filter(transaction => transaction.at >= from)
  if (!rows.length) throw nothing()
  return ok(array('RewardTransactions', rows.map(transactionElement)))
}
