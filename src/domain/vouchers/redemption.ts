import { createAccountLimit } from '../../errors/account-limit.ts'
import { ApiError, type ProblemMembers } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { formatAmount, getDecimals, parseAmount } from '../values/money.ts'
import type { VoucherState } from './states.ts'
import type { ValidationStatus, VoucherLockState } from './validations.ts'

/** The state and balance that decide whether a voucher can be used. The balance is in minor units. */
interface VoucherBalance extends Pick<VoucherLockState, 'state' | 'lockedUntil'> {
  currency: string
  balance: bigint
}

/** Parses a validated amount into minor units. Throws if it is invalid. */
export function toMinorUnits(text: string, { currency }: Settings): bigint {
  const units = parseAmount(text, getDecimals(currency))
  if (units === undefined) throw new Error('amount was not validated')
  return units
}

/** Returns why a voucher can't be validated for `requested` minor units, or undefined if it can. */
export const checkValidatable = (
  voucher: VoucherBalance,
  requested: bigint,
  settings: Settings,
): ApiError | undefined =>
  voucher.state === 'locked'
    ? toLockedError(voucher, settings)
    : (checkUsable(voucher, settings) ?? checkAmount(requested, voucher, settings, '/amount'))

/** Returns why a validation can't lock or unlock (`lockSeconds: 0`) a voucher, or undefined if it can. */
export function checkLockable(
  voucher: VoucherLockState,
  status: ValidationStatus,
  lockSeconds: number,
  settings: Settings,
): ApiError | undefined {
  if (status !== 'newest') return toOutdatedError(voucher, settings)
  // A lock can outlive the 24 hours of its validation, but it can't be renewed after them.
  return lockSeconds > 0 && !voucher.isFresh ? new ApiError('validation_id_incorrect') : undefined
}

/**
 * Throws if a validation can't redeem `requested` minor units: `validation_id_incorrect`, `voucher_locked`, `voucher_unusable`,
 * `insufficient_voucher_balance`, `voucher_must_be_used_in_full`. `pointer` is the JSON pointer of the voucher in the order.
 */
export function requireRedeemable<T extends VoucherBalance>(
  voucher: T | undefined,
  status: ValidationStatus,
  requested: bigint,
  settings: Settings,
  pointer: string,
): asserts voucher is T {
  const error =
    voucher && status === 'newest'
      ? (checkUsable(voucher, settings) ?? checkAmount(requested, voucher, settings, pointer))
      : toOutdatedError(status === 'superseded' ? voucher : undefined, settings)
  if (error) throw withPointer(pointer, error)
}

/** Returns the error of a wrong or superseded validation: `voucher_locked` if another client has the lock. */
const toOutdatedError = (voucher: Pick<VoucherBalance, 'state' | 'lockedUntil'> | undefined, settings: Settings) =>
  voucher?.state === 'locked' ? toLockedError(voucher, settings) : new ApiError('validation_id_incorrect')

const toLockedError = ({ lockedUntil }: Pick<VoucherBalance, 'lockedUntil'>, { timeZone }: Settings) =>
  lockedUntil === null
    ? new ApiError('voucher_locked')
    : new ApiError('voucher_locked', `The voucher is locked by another sale until ${lockedUntil} (${timeZone}).`, {
        members: { lockedUntil },
      })

const reasons: Partial<Record<VoucherState, NonNullable<ProblemMembers['reason']>>> = {
  redeemed: 'redeemed',
  expired: 'expired',
  suspended: 'suspended',
  pending: 'not issued',
}

/** Returns why a voucher can't be used, or undefined if it can. Does not consider locks. */
export function checkUsable(
  { state, currency }: Pick<VoucherBalance, 'state' | 'currency'>,
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

/** Returns why an amount can't be redeemed, or undefined if it can. `pointer` is the JSON pointer of the amount. */
function checkAmount(
  requested: bigint,
  { balance }: Pick<VoucherBalance, 'balance'>,
  { currency, requireFullRedemption }: Settings,
  pointer: string,
): ApiError | undefined {
  const format = (units: bigint) => `${formatAmount(units, getDecimals(currency))} ${currency}`
  const createError = (
    code: 'invalid_field' | 'insufficient_voucher_balance' | 'voucher_must_be_used_in_full',
    detail: string,
  ) => withPointer(pointer, new ApiError(code, detail))
  if (requested <= 0n) return createError('invalid_field', 'The amount must be greater than 0.')
  if (requested > balance)
    return createError(
      'insufficient_voucher_balance',
      `The amount can be at most ${format(balance)}, the voucher's balance; it is ${format(requested)}.`,
    )
  if (requireFullRedemption && requested !== balance)
    return createError('voucher_must_be_used_in_full', `The voucher must be redeemed in full: ${format(balance)}.`)
  return
}

/** Returns `rate_limited` if the account can't lock another voucher. */
export const checkAccountLocks = createAccountLimit('lock', 'vouchers')

/** Returns a copy of an error that also names a field: `pointer` is its JSON pointer. */
export const withPointer = (pointer: string, { code, message, members, headers, cause }: ApiError): ApiError =>
  Object.assign(new ApiError(code, message, { errors: [{ pointer, code, detail: message }], members, headers }), {
    cause,
  })
