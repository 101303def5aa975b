import { createAccountLimit } from '../../errors/account-limit.ts'
import { ApiError, type FieldError, toApiError } from '../../errors/api-error.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { Currency, Id, LocalTime, Money, Nullable, OneOf } from '../values/fields.ts'
import { formatAmount, getDecimals, parseAmount, parseStoredAmount } from '../values/money.ts'
import { compareExpiry, type Lot } from './rules.ts'

/** The seconds of a redemption without `seconds`. */
export const defaultSeconds = 900

const uuid = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'

/** True if a text is a UUID. */
export const isRequestId = (text: string) => new RegExp(uuid).test(text)

const RequestId = Type.String({
  description: 'Your own UUID for the redemption. A repeated request with it has no further effect.',
  pattern: uuid,
  examples: ['019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'],
})
const Points = Type.Integer({
  description: 'Points to redeem.',
  minimum: 1,
  maximum: 2_147_483_647,
  examples: [100],
})
const Amount = Money('The value of rewards to redeem.', '25.00')

/** The body of a new redemption. */
export type RedemptionInput = Static<typeof RedemptionInput>
export const RedemptionInput = Type.Object(
  {
    requestId: RequestId,
    points: Type.Optional(Points),
    amount: Type.Optional(Amount),
    seconds: Type.Optional(
      Type.Integer({
        description: 'Seconds until the redemption expires, unless it is confirmed.',
        minimum: 1,
        // A back office can reverse for 24 hours only. The other half is left for its outages.
        maximum: 43_200,
        default: defaultSeconds,
        examples: [600],
      }),
    ),
  },
  {
    $id: 'RedemptionInput',
    additionalProperties: false,
    // Not both `points` and `amount`.
    examples: [{ requestId: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91', points: 100, seconds: 600 }],
  },
)

/** A reservation of points or rewards that is confirmed or cancelled. */
export type RewardRedemption = Static<typeof RewardRedemption>
export const RewardRedemption = Type.Object(
  {
    requestId: RequestId,
    accountId: Id('The reward account.', '22672'),
    status: OneOf(
      '`pending` reserves the amount until `expiresAt`. `unknown`: the back office has not answered yet. Repeat the last request.',
      ['pending', 'confirmed', 'cancelled', 'expired', 'unknown'],
    ),
    points: Nullable(Points),
    amount: Nullable(Amount),
    currency: Currency,
    createdAt: LocalTime('When the redemption was created.', '2026-11-21 11:45:00'),
    expiresAt: LocalTime('When a pending redemption expires.', '2026-11-21 12:00:00'),
  },
  { $id: 'RewardRedemption', additionalProperties: false },
)

/** The stored status of a redemption. `submitting`, `confirming` and `cancelling`: the outcome of a request to the back office is unknown. */
export type RedemptionStatus =
  | 'submitting'
  | 'pending'
  | 'confirming'
  | 'cancelling'
  | 'confirmed'
  | 'cancelled'
  | 'expired'

/** A redemption. Its amount is in ten-thousandths of a point or of the currency, the scale of the amount columns. */
export interface Redemption {
  requestId: string
  accountId: string
  kind: 'points' | 'reward'
  amount: bigint
}

/** The scale of the amount columns, whatever the currency. */
export const amountDecimals = 4
const scale = 10n ** BigInt(amountDecimals)

/** Converts the body. Throws if it doesn't have exactly one amount, or if the amount is invalid. */
export function toRedemption(accountId: string, input: RedemptionInput, { currency }: Settings): Redemption {
  if ((input.points === undefined) === (input.amount === undefined))
    throw toApiError([{ pointer: '', code: 'invalid_body', detail: 'Send either `points` or `amount`.' }])
  const key = { requestId: input.requestId.toLowerCase(), accountId }
  if (input.points !== undefined) return { ...key, kind: 'points', amount: BigInt(input.points) * scale }
  const decimals = getDecimals(currency)
  const units = parseAmount(input.amount ?? '', decimals) ?? 0n
  if (units > 0n) return { ...key, kind: 'reward', amount: units * 10n ** BigInt(amountDecimals - decimals) }
  const detail = `\`amount\` must be greater than 0, in ${currency} with ${decimals} decimals.`
  throw toApiError([{ pointer: '/amount', code: 'invalid_field', detail }])
}

/** Parses an amount that an account shows. */
export const toAmount = (text: string): bigint => parseStoredAmount(text, amountDecimals)

/** Formats an amount: points as an integer, rewards with the decimals of the currency. */
export const formatUnits = (kind: Redemption['kind'], amount: bigint, currency: string): string => {
  const decimals = kind === 'points' ? 0 : getDecimals(currency)
  return formatAmount(amount / 10n ** BigInt(amountDecimals - decimals), decimals)
}

/** Divides an amount among lots, earliest expiry first. Throws `insufficient_rewards` if they have less. */
export function allocateRedemption(
  { kind, amount: requested }: Pick<Redemption, 'kind' | 'amount'>,
  lots: readonly Lot[],
  { pointsOwed, currency }: { pointsOwed: bigint; currency: string },
): { lotId: string; amount: bigint }[] {
  const owed = kind === 'points' ? pointsOwed * scale : 0n
  const total = lots.reduce((sum, { remaining }) => sum + remaining, 0n) - owed
  if (requested > total) throw insufficientRewards(kind, total > 0n ? total : 0n, currency)
  let missing = requested
  return lots.toSorted(compareExpiry).flatMap(({ id, remaining }) => {
    const part = remaining < missing ? remaining : missing
    missing -= part
    return part > 0n ? [{ lotId: id, amount: part }] : []
  })
}

/** The error of a redemption that needs more than the account has. `available`: undefined if it isn't known. */
export function insufficientRewards(
  kind: Redemption['kind'],
  available: bigint | undefined,
  currency: string,
): ApiError {
  const unit = kind === 'points' ? 'points' : currency
  const detail =
    available === undefined
      ? `The account doesn't have enough ${kind === 'points' ? 'points' : 'rewards'}.`
      : `At most ${formatUnits(kind, available, currency)} ${unit} can be redeemed.`
  const error: FieldError = {
    pointer: kind === 'points' ? '/points' : '/amount',
    code: 'insufficient_rewards',
    detail,
  }
  return new ApiError('insufficient_rewards', detail, { errors: [error] })
}

/** Throws `idempotency_key_reused` if a request ID has been used for another redemption. */
export function requireSameRedemption(stored: Redemption, { accountId, kind, amount }: Redemption): void {
  if (stored.accountId === accountId && stored.kind === kind && stored.amount === amount) return
  throw new ApiError('idempotency_key_reused', '`requestId` was used for a different redemption. Use a new UUID.')
}

export type RedemptionAction = 'confirm' | 'cancel'

/** The statuses in which each action has an effect, and those that it has led to already. */
const transitions: Record<RedemptionAction, { from: readonly RedemptionStatus[]; done: readonly RedemptionStatus[] }> =
  {
    confirm: { from: ['pending', 'confirming'], done: ['confirmed'] },
    cancel: { from: ['pending', 'submitting', 'cancelling'], done: ['cancelled', 'expired'] },
  }

/** Returns false if the redemption has this status already. Throws `invalid_transition` if the status doesn't permit the action. */
export function canAct(action: RedemptionAction, status: RedemptionStatus): boolean {
  const { from, done } = transitions[action]
  if (from.includes(status)) return true
  if (done.includes(status)) return false
  throw redemptionEnded(action, status)
}

/** Returns `invalid_transition` with the reason why an action isn't possible in a status. */
export function redemptionEnded(action: RedemptionAction, status: RedemptionStatus): ApiError {
  const reasons: Partial<Record<RedemptionStatus, string>> = {
    submitting: 'it is not known yet whether it was reserved. Repeat the request that reserves it',
    confirming: 'it is not known yet whether it was confirmed. Repeat the confirmation',
    cancelling: 'it is not known yet whether it was cancelled. Repeat the cancellation',
  }
  const verb = action === 'confirm' ? 'confirmed' : 'cancelled'
  return new ApiError(
    'invalid_transition',
    `The redemption can't be ${verb}, because ${reasons[status] ?? `it is ${status}`}.`,
  )
}

/** Returns `rate_limited` if the account of the API has too many pending redemptions. */
export const checkAccountRedemptions = createAccountLimit('have', 'pending redemptions')
