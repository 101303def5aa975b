import { createNoDataError, createRejection } from '../http/errors.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatIso, parseWall } from '../shop/clock.ts'
import { rewardReasons } from '../shop/records.ts'
import type { Lot, Program, RewardAccount, RewardTransaction, Tier } from '../shop/sales.ts'
import { roundToCents, type Shop, sumAmounts } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { array, type Element, el, fields } from '../xml/element.ts'
import { getToday } from './persons.ts'

const buildPeriod = (name: string, months?: number, days?: number) => el(name, fields({ Months: months, Days: days }))

const buildTier = (tier: Tier, program: Program): Element =>
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
    buildPeriod('DefaultPointsExpiry', 12, 0),
    buildPeriod('DefaultRewardExpiry'),
    buildPeriod('PreventDemotionPeriod'),
    el('QualifySpend', tier.qualifySpend),
    buildPeriod('QualifyPeriod'),
    el('MinimumSpendToRedeem', program.minimumSpend),
  ])

const buildProgram = (program: Program, shop: Shop): Element =>
  el('Program', [
    ...fields({ Id: program.id, Name: program.name, Description: program.description, Currency: program.currency }),
    array(
      'Tiers',
      program.tiers.map(tier => buildTier(tier, program)),
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

export const listPrograms: Handler = ({ parameters }, { shop }) => {
  const programs = [...shop.programs.values()].filter(
    ({ id }) => parameters[0] === undefined || id === parseInteger(parameters[0]),
  )
  if (!programs.length) throw createNoDataError()
  return respondOk(
    el(
      'RewardPrograms',
      programs.map(program => buildProgram(program, shop)),
    ),
  )
}

export const getFreeAmount = (lot: Lot) => roundToCents(lot.total - lot.redeemed - lot.pending)

const buildLotFields = (lot: Lot): Element[] => [
  ...fields({ CreatedDateTime: formatIso(lot.created), Description: lot.description, Total: lot.total }),
  ...fields({
    Redeemed: lot.redeemed,
    PendingRedemption: lot.pending,
    Available: getFreeAmount(lot),
    ExpiryDate: lot.expires,
  }),
]

function buildReason(id: string, shop: Shop): Element {
  const reference = shop.referenceTypes.get(rewardReasons)?.references.get(Number(id))
  return el('IssueReason', fields({ Id: id, Code: reference?.code, Name: reference?.name }))
}

/** Builds an account. Expired lots are neither listed nor counted. */
export function buildAccount(account: RewardAccount, world: World): Element {
  const { shop } = world
  const filterUnexpired = <T extends { expires: string }>(lots: T[]) =>
    lots.filter(lot => lot.expires === '' || lot.expires >= getToday(world))
  const program = shop.programs.get(account.programId)
  const tiers = program?.tiers ?? []
  const tier = tiers.find(({ id }) => id === account.tierId)
  const nextTier = tiers.find(({ sequence }) => sequence === (tier?.sequence ?? 0) + 1)
  const points = sumAmounts(filterUnexpired(account.points).map(getFreeAmount))
  const missing = program ? roundToCents(program.threshold - (points % program.threshold)) : undefined
  return el('RewardAccount', [
    ...fields({
      Id: account.id,
      ProgramId: account.programId,
      ProgramName: program?.name,
      Currency: program?.currency,
    }),
    ...fields({ TierId: account.tierId, TierName: tier?.name, PersonId: account.personId }),
    ...fields({ TierLockedUntilDate: account.tierLockedUntil, AvailablePoints: points }),
    ...fields({
      AvailableRewards: sumAmounts(filterUnexpired(account.rewards).map(getFreeAmount)),
      JoinDate: account.joined,
    }),
    ...fields({ TierJoinDate: account.tierJoined, PointsToNextReward: missing, SpendToNextReward: missing }),
    ...fields({ NextTierId: nextTier?.id }),
    ...fields({ SpendToNextTier: nextTier && Math.max(0, roundToCents(nextTier.qualifySpend - account.spend)) }),
    array(
      'PointsList',
      filterUnexpired(account.points).map(lot => el('Accrual', [el('AccrualId', lot.id), ...buildLotFields(lot)])),
    ),
    array(
      'RewardsList',
      filterUnexpired(account.rewards).map(lot =>
        el('Reward', [el('RewardId', lot.id), ...buildLotFields(lot), buildReason(lot.reasonId, shop)]),
      ),
    ),
    array(
      'GiftList',
      filterUnexpired(account.gifts).map(gift =>
        el('Gift', [
          ...fields({ IssueId: gift.id, CreatedDateTime: formatIso(gift.created), Description: gift.description }),
          ...fields({ GiftId: gift.giftId, GiftName: program?.gifts.find(({ id }) => id === gift.giftId)?.name }),
          ...fields({ Available: gift.available, ExpiryDate: gift.expires }),
          buildReason(gift.reasonId, shop),
        ]),
      ),
    ),
  ])
}

/** Returns the account in the path. Throws 5152, not "no data found", if it doesn't exist. */
export function requireAccount({ parameters }: ApiRequest, { shop }: World): RewardAccount {
  const account = shop.accounts.get(parseInteger(parameters[0]) ?? 0)
  if (!account) throw createRejection(5152)
  return account
}

export const getAccount: Handler = (request, world) => respondOk(buildAccount(requireAccount(request, world), world))

const buildTransaction = ({ at, description, source, reference, spend, points, reward }: RewardTransaction) =>
  el('Transaction', [
    ...fields({ TransactionDateTime: formatIso(at), Description: description, Source: source, Reference: reference }),
    ...fields({ Spend: spend, ForeignSpend: '', ForeignCurrency: '', Points: points, RewardAmount: reward }),
    ...fields({ GiftId: '', GiftName: '', NewGift: '', RedeemedGiftSkuId: '', Confirmed: true }),
  ])

export const listAccountTransactions: Handler = (request, world) => {
  const account = requireAccount(request, world)
  const text = request.query('fromDate')
  const from = text ? parseWall(text) : Number.NEGATIVE_INFINITY
  if (from === undefined || (text && text.length !== 10)) throw createRejection(5099)
  const rows = account.transactions.filter(transaction => transaction.at >= from)
  if (!rows.length) throw createNoDataError()
  return respondOk(array('RewardTransactions', rows.map(buildTransaction)))
}
