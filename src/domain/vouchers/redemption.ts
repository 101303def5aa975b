import { ApiError, type ProblemMembers } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { amount, decimalsOf, minorUnits } from '../values/money.ts'
import type { VoucherState } from './states.ts'
import type { Judged, Validated } from './validations.ts'

/** A voucher as its use is judged; what is left of it in minor units. */
interface Standing extends Pick<Validated, 'state' | 'lockedUntil'> {
  currency: string
  balance: bigint
}

/** An amount that has been judged by its shape, in minor units. */
export function unitsOf(text: string, { currency }: Settings): bigint {
  const units = minorUnits(text, decimalsOf(currency))
  if (units === undefined) throw new Error('an amount has the decimals of its currency')
  return units
}

/** What stands against a new validation, for `wanted` minor units. */
export const againstValidating = (voucher: Standing, wanted: bigint, settings: Settings): ApiError | undefined =>
  voucher.state === 'locked'
    ? lockedError(voucher)
    : (unusable(voucher, settings) ?? undrawable(wanted, voucher, settings, '/amount'))

/** What stands against holding a voucher, or giving it back (0 seconds), with a validation that it has or had. */
export function againstHolding(voucher: Validated, judged: Judged, lockSeconds: number): ApiError | undefined {
  if (judged !== 'newest') return againstOld(voucher)
  // A lock outlives the 24 hours of its validation, but is not renewed after them.
  return lockSeconds > 0 && !voucher.isFresh ? new ApiError('validation_id_incorrect') : undefined
}

/**
 * Throws what stands against drawing `wanted` minor units: `validation_id_incorrect`, `voucher_locked`, `voucher_unusable`,
 * `insufficient_voucher_balance`, `voucher_must_be_used_in_full`. `pointer` is where the order names the voucher.
 */
export function requireDrawable<T extends Standing>(
  voucher: T | undefined,
  judged: Judged,
  wanted: bigint,
  settings: Settings,
  pointer: string,
): asserts voucher is T {
  const against =
    voucher && judged === 'newest'
      ? (unusable(voucher, settings) ?? undrawable(wanted, voucher, settings, pointer))
      : againstOld(judged === 'superseded' ? voucher : undefined)
  if (against) throw pointedAt(pointer, against)
}

/** What is told of a validation that opens nothing, or nothing any more: of the lock, where somebody else has it. */
const againstOld = (voucher: Pick<Standing, 'state' | 'lockedUntil'> | undefined) =>
  voucher?.state === 'locked' ? lockedError(voucher) : new ApiError('validation_id_incorrect')

const lockedError = ({ lockedUntil }: Pick<Standing, 'lockedUntil'>) =>
  new ApiError('voucher_locked', `The voucher is locked by another sale until ${lockedUntil}.`, {
    members: lockedUntil === null ? {} : { lockedUntil },
  })

const reasons: Partial<Record<VoucherState, NonNullable<ProblemMembers['reason']>>> = {
  redeemed: 'redeemed',
  expired: 'expired',
  suspended: 'suspended',
  pending: 'not issued',
}

/** Why a voucher cannot be used for anything at all; undefined where it can. A lock is another matter. */
export function unusable(
  { state, currency }: Pick<Standing, 'state' | 'currency'>,
  settings: Settings,
): ApiError | undefined {
  const reason = reasons[state]
  if (reason) return new ApiError('voucher_unusable', `The voucher is ${reason}.`, { members: { reason } })
  if (currency !== settings.currency)
    return new ApiError(
      'voucher_unusable',
      `The voucher is in ${currency}, but this service uses ${settings.currency}.`,
    )
  return
}

/** Why so many minor units cannot be drawn of a voucher; undefined where they can. `pointer` is where the amount stands. */
function undrawable(
  wanted: bigint,
  { balance }: Pick<Standing, 'balance'>,
  { currency, requireFullRedemption }: Settings,
  pointer: string,
): ApiError | undefined {
  const shown = (units: bigint) => `${amount(units, decimalsOf(currency))} ${currency}`
  const against = (
    code: 'invalid_field' | 'insufficient_voucher_balance' | 'voucher_must_be_used_in_full',
    detail: string,
  ) => pointedAt(pointer, new ApiError(code, detail))
  if (wanted <= 0n) return against('invalid_field', 'The amount must be greater than 0.')
  if (wanted > balance)
    return against(
      'insufficient_voucher_balance',
      `The amount can be at most ${shown(balance)}, the voucher's balance; it is ${shown(wanted)}.`,
    )
  if (requireFullRedemption && wanted !== balance)
    return against('voucher_must_be_used_in_full', `The voucher must be redeemed in full: ${shown(balance)}.`)
  return
}

/** The vouchers that an account holds, and the seconds until one of them is free again. */
export interface Held {
  count: number
  seconds: number
}

/** Vouchers that one account may hold at the same time. */
const mostHeld = 1_000

/** Why an account cannot hold one more. */
export const tooManyHeld = ({ count, seconds }: Held): ApiError | undefined =>
  count >= mostHeld
    ? new ApiError('rate_limited', `An account can lock at most ${mostHeld} vouchers at a time.`, {
        retryAfter: Math.max(1, seconds),
      })
    : undefined

/** The same error, of this place in the body. */
export const pointedAt = (pointer: string, { code, message, members, headers, cause }: ApiError): ApiError =>
  Object.assign(new ApiError(code, message, { errors: [{ pointer, code, detail: message }], members, headers }), {
    cause,
  })
