import { createRejection } from '../http/errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { dayMs } from '../shop/clock.ts'
import type { Lot, RewardAccount, RewardRedemption } from '../shop/sales.ts'
import { roundToCents, sumAmounts } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { findText } from '../xml/payload.ts'
import { getToday } from './persons.ts'
import { readDecimal, readDocument, readFlag } from './posted.ts'
import { buildAccount, getFreeAmount, requireAccount } from './rewards.ts'

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The element that contains the amount, and the error codes of a wrong sign and of too large an amount. */
const balances = {
  points: { element: 'Points', wrongSign: 5153, tooMuch: 5156 },
  rewards: { element: 'Amount', wrongSign: 5154, tooMuch: 5157 },
} as const

const redemptionShape = shape('RequestId|PersonId|Points|Amount|AutoConfirm')

/** Creates a handler that redeems points or rewards, the earliest expiry first. Without AutoConfirm they are pending until they are confirmed or reversed. */
export const createRedeemHandler =
  (kind: keyof typeof balances): Handler =>
  (request, world) => {
    const { element, wrongSign, tooMuch } = balances[kind]
    const account = requireAccount(request, world)
    const payload = readDocument(request, world, 'RewardRedemption', redemptionShape)
    const requestId = (findText(payload, 'RequestId') ?? '').toLowerCase()
    if (requestId === '') throw createRejection(5164)
    if (!guid.test(requestId)) throw createRejection(5165)
    if (world.shop.redemptions.has(requestId)) throw createRejection(5163)
    if (Number(findText(payload, 'PersonId') || account.personId) !== account.personId) throw createRejection(5155)
    const amount = roundToCents(readDecimal(payload, element) ?? 0)
    if (amount <= 0 || (kind === 'points' && !Number.isInteger(amount))) throw createRejection(wrongSign)
    const openLots = findOpenLots(account[kind], world)
    if (amount > sumAmounts(openLots.map(getFreeAmount))) throw createRejection(tooMuch)
    const redemption: RewardRedemption = {
      requestId,
      accountId: account.id,
      kind,
      created: world.clock.wall(),
      status: 'pending',
      parts: reserve(openLots, amount),
    }
    world.shop.redemptions.set(requestId, redemption)
    world.recordEffect('rewards reserved', requestId, { account: account.id, [kind]: amount })
    if (readFlag(payload, 'AutoConfirm', 5165)) confirm(redemption, account, world)
    return { ...respondOk(buildAccount(account, world)), status: 201 }
  }

function findOpenLots(lots: readonly Lot[], world: World): Lot[] {
  const getLastDay = (lot: Lot) => lot.expires || '9999-12-31'
  return lots
    .filter(lot => getLastDay(lot) >= getToday(world))
    .sort((a, b) => getLastDay(a).localeCompare(getLastDay(b)) || a.id - b.id)
}

function reserve(lots: readonly Lot[], amount: number): RewardRedemption['parts'] {
  let missing = amount
  const parts: RewardRedemption['parts'] = []
  for (const lot of lots) {
    const part = Math.min(getFreeAmount(lot), missing)
    if (part <= 0) continue
    lot.pending = roundToCents(lot.pending + part)
    parts.push({ lotId: lot.id, amount: part })
    missing = roundToCents(missing - part)
  }
  return parts
}

function confirm(redemption: RewardRedemption, account: RewardAccount, world: World): void {
  endPending(redemption, account, (lot, amount) => {
    lot.redeemed = roundToCents(lot.redeemed + amount)
  })
  redemption.status = 'confirmed'
  const total = sumAmounts(redemption.parts.map(({ amount }) => amount))
  account.transactions.push({
    at: world.clock.wall(),
    description: 'Redemption',
    source: 'RetailAPI',
    reference: redemption.requestId,
    spend: 0,
    points: redemption.kind === 'points' ? -total : 0,
    reward: redemption.kind === 'rewards' ? -total : 0,
  })
  world.recordEffect('rewards redeemed', redemption.requestId, { account: account.id })
}

function endPending(
  { kind, parts }: RewardRedemption,
  account: RewardAccount,
  change: (lot: Lot, amount: number) => void,
): void {
  for (const { lotId, amount } of parts) {
    const lot = account[kind].find(({ id }) => id === lotId)
    if (!lot) continue
    lot.pending = roundToCents(lot.pending - amount)
    change(lot, amount)
  }
}

function requirePending(
  request: ApiRequest,
  { shop }: World,
): { redemption: RewardRedemption; account: RewardAccount } {
  const requestId = request.query('requestId')?.toLowerCase()
  if (!requestId) throw createRejection(5158)
  const redemption = shop.redemptions.get(requestId)
  const account = redemption && shop.accounts.get(redemption.accountId)
  if (!redemption || !account) throw createRejection(5165)
  if (redemption.status !== 'pending') throw createRejection(5163)
  return { redemption, account }
}

export const confirmRedemption: Handler = (request, world) => {
  const { redemption, account } = requirePending(request, world)
  confirm(redemption, account, world)
  return { ...respondOk(), status: 201 }
}

/** Reverses a pending redemption. Rejects it after 24 hours. */
export const reverseRedemption: Handler = (request, world) => {
  const { redemption, account } = requirePending(request, world)
  if (world.clock.wall() - redemption.created > dayMs) throw createRejection(5165)
  endPending(redemption, account, () => undefined)
  redemption.status = 'reversed'
  world.recordEffect('rewards released', redemption.requestId, { account: account.id })
  return { ...respondOk(), status: 201 }
}
