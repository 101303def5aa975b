import { ok } from '../http/answers.ts'
import { createRejection } from '../http/errors.ts'
import type { ApiRequest } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { day } from '../shop/clock.ts'
import type { Lot, RewardAccount, RewardRedemption } from '../shop/sales.ts'
import { cents, sum } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { textAt } from '../xml/payload.ts'
import { today } from './persons.ts'
import { decimal, flag, posted } from './posted.ts'
import { accountElement, accountOf, free } from './rewards.ts'

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The element with the amount, and the errors for a wrong sign and for too much. */
const balances = {
  points: { element: 'Points', wrongSign: 5153, tooMuch: 5156 },
  rewards: { element: 'Amount', wrongSign: 5154, tooMuch: 5157 },
} as const

const redemptionShape = shape('RequestId|PersonId|Points|Amount|AutoConfirm')

/** Redeems points or rewards, earliest expiry first. Without AutoConfirm they are pending until they are confirmed or reversed. */
export const redeem =
  (kind: keyof typeof balances): Handler =>
  (request, world) => {
    const { element, wrongSign, tooMuch } = balances[kind]
    const account = accountOf(request, world)
    const payload = posted(request, world, 'RewardRedemption', redemptionShape)
    const requestId = (textAt(payload, 'RequestId') ?? '').toLowerCase()
    if (requestId === '') throw createRejection(5164)
    if (!guid.test(requestId)) throw createRejection(5165)
    if (world.shop.redemptions.has(requestId)) throw createRejection(5163)
    if (Number(textAt(payload, 'PersonId') || account.personId) !== account.personId) throw createRejection(5155)
    const amount = cents(decimal(payload, element) ?? 0)
    if (amount <= 0 || (kind === 'points' && !Number.isInteger(amount))) throw createRejection(wrongSign)
    const open = openLots(account[kind], world)
    if (amount > sum(open.map(free))) throw createRejection(tooMuch)
    const redemption: RewardRedemption = {
      requestId,
      accountId: account.id,
      kind,
      created: world.clock.wall(),
      status: 'pending',
      parts: reserve(open, amount),
    }
    world.shop.redemptions.set(requestId, redemption)
    world.note('rewards reserved', requestId, { account: account.id, [kind]: amount })
    if (flag(payload, 'AutoConfirm', 5165)) confirm(redemption, account, world)
    return { ...ok(accountElement(account, world)), status: 201 }
  }

function openLots(lots: readonly Lot[], world: World): Lot[] {
  const lastDay = (lot: Lot) => lot.expires || '9999-12-31'
  return lots
    .filter(lot => lastDay(lot) >= today(world))
    .sort((a, b) => lastDay(a).localeCompare(lastDay(b)) || a.id - b.id)
}

function reserve(lots: readonly Lot[], amount: number): RewardRedemption['parts'] {
  let missing = amount
  const parts: RewardRedemption['parts'] = []
  for (const lot of lots) {
    const part = Math.min(free(lot), missing)
    if (part <= 0) continue
    lot.pending = cents(lot.pending + part)
    parts.push({ lotId: lot.id, amount: part })
    missing = cents(missing - part)
  }
  return parts
}

function confirm(redemption: RewardRedemption, account: RewardAccount, world: World): void {
  endPending(redemption, account, (lot, amount) => {
    lot.redeemed = cents(lot.redeemed + amount)
  })
  redemption.status = 'confirmed'
  const total = sum(redemption.parts.map(({ amount }) => amount))
  account.transactions.push({
    at: world.clock.wall(),
    description: 'Redemption',
    source: 'RetailAPI',
    reference: redemption.requestId,
    spend: 0,
    points: redemption.kind === 'points' ? -total : 0,
    reward: redemption.kind === 'rewards' ? -total : 0,
  })
  world.note('rewards redeemed', redemption.requestId, { account: account.id })
}

function endPending(
  { kind, parts }: RewardRedemption,
  account: RewardAccount,
  change: (lot: Lot, amount: number) => void,
): void {
  for (const { lotId, amount } of parts) {
    const lot = account[kind].find(({ id }) => id === lotId)
    if (!lot) continue
    lot.pending = cents(lot.pending - amount)
    change(lot, amount)
  }
}

function pendingOf(request: ApiRequest, { shop }: World): { redemption: RewardRedemption; account: RewardAccount } {
  const requestId = request.query('requestId')?.toLowerCase()
  if (!requestId) throw createRejection(5158)
  const redemption = shop.redemptions.get(requestId)
  const account = redemption && shop.accounts.get(redemption.accountId)
  if (!redemption || !account) throw createRejection(5165)
  if (redemption.status !== 'pending') throw createRejection(5163)
  return { redemption, account }
}

export const confirmRedemption: Handler = (request, world) => {
  const { redemption, account } = pendingOf(request, world)
  confirm(redemption, account, world)
  return { ...ok(), status: 201 }
}

/** Possible only within 24 hours. */
export const reverseRedemption: Handler = (request, world) => {
  const { redemption, account } = pendingOf(request, world)
  if (world.clock.wall() - redemption.created > day) throw createRejection(5165)
  endPending(redemption, account, () => undefined)
  redemption.status = 'reversed'
  world.note('rewards released', redemption.requestId, { account: account.id })
  return { ...ok(), status: 201 }
}
