import type { Keys } from '../../../crypto/keys.ts'
import type { Db } from '../../../database/db.ts'
import type { VoucherPayment } from '../../../domain/orders/voucher-payments.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import {
  checkAccountLocks,
  checkLockable,
  checkValidatable,
  requireRedeemable,
  toMinorUnits,
} from '../../../domain/vouchers/redemption.ts'
import { checkValidation, createValidation, deriveValidation } from '../../../domain/vouchers/validations.ts'
import type { ValidatedVoucher, Voucher, VoucherOpening } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import {
  countUpstreamLocks,
  endUpstreamValidation,
  keepValidation,
  lockUpstream,
  storeLock,
  takeOff,
  upstreamValidationOf,
} from '../../../store/vouchers/upstream.ts'
import { after, type CommitPhase, NotApplied, type Write } from '../../../writes/write.ts'
import type { VoucherRead, VoucherWrites } from '../../port/vouchers.ts'
import { countWrongId } from '../../vouchers/guesses.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import type { Upstream } from '../queries/upstream.ts'
import { getVoucherLock, openVoucher, resolveGuess, toVoucher, validateAtBackOffice } from './open-voucher.ts'
import { sellVoucher } from './voucher-sale.ts'

/**
 * Gift vouchers that the back office keeps (contract 7). Who has the newest validation, and who holds a voucher, is known here: the back
 * office ends a validation when anybody asks for the next one, so it is not asked while somebody holds the voucher, and about one
 * voucher there is one question at a time. Guesses are counted here, before the back office is asked.
 */
export const createVoucherWrites = ({ client, release, giftCards }: Upstream): VoucherWrites => ({
  async lookUpVoucher(reading, opening) {
    const opened = await openVoucher(client, reading, opening)
    const { service } = reading
    return async tx => {
      const voucher = await resolveGuess(tx, service, opened)
      return voucher instanceof ApiError ? voucher : toVoucher(tx, service, voucher)
    }
  },

  validateVoucher: (reading, validation) => validateVoucher(client, reading, validation),

  async lockVoucher(write, lock) {
    // What may be a lock was noted before the back office was told of it.
    if (write.isSettling) throw new NotApplied()
    if ('validationId' in lock) return lockByValidation(client, write, lock)
    const { service, keys, step, username, reference } = write
    const { number, pin, amount = '', lockSeconds } = lock
    const own = deriveValidation(keys, service, number, [reference, pin, amount])
    const hold = async (validationId: string) => {
      const held = await lockByValidation(client, write, { number, lockSeconds, validationId })
      return after(held, voucher => (voucher instanceof ApiError ? voucher : { ...voucher, validationId }))
    }
    // Nobody but an attempt before this one, whose outcome nobody knows, can have locked it with this very validation.
    const isMine = async (tx: Db) => {
      const taken = await lockUpstream(tx, service, number)
      const judged = checkValidation(keys, service, taken, number, own.validationId)
      return judged === 'newest' && taken?.state === 'locked' && taken.isFresh
    }
    if (write.isKeyed && (await step(isMine, { names: [getVoucherLock(number)] }))) return hold(own.validationId)
    // To validate is to end the validation before, which is to stay where nothing comes of it.
    const against = async (tx: Db) => (lockSeconds > 0 ? checkLockLimit(tx, write) : undefined)
    const validate = await validateVoucher(client, write, lock, own, against)
    if (write.isTrial)
      return async tx => {
        const validated = await validate(tx)
        if (validated instanceof ApiError) return validated
        const { validationId, ...voucher } = validated
        await storeLock(tx, service, number, lockSeconds, username)
        return { ...(await toVoucher(tx, service, voucher)), validationId }
      }
    // Nobody gets between: the voucher is this write's until it ends.
    const validated = await step(validate)
    if (validated instanceof ApiError) return async () => validated
    return hold(validated.validationId)
  },

  issueVoucher: (write, input) => sellVoucher({ client, release, giftCards }, write, input),
})

/** Returns `rate_limited` if the account can't lock another voucher. */
const checkLockLimit = async (tx: Db, { service, username }: Write) =>
  checkAccountLocks(await countUpstreamLocks(tx, service, username))

/** Validates a voucher for an amount, or for all that is left, unless something else is `against` it. */
async function validateVoucher(
  client: Client,
  reading: VoucherRead,
  { number, pin, amount: named }: VoucherOpening & { amount?: string | undefined },
  made = createValidation(reading.keys, reading.service, number),
  against: (tx: Db) => Promise<ApiError | undefined> = async () => undefined,
): Promise<CommitPhase<ValidatedVoucher | ApiError>> {
  const { step, keys, service, isTrial } = reading
  const { settings } = service
  const opened = await openVoucher(client, reading, { number, pin })
  const judged = await step(async tx => {
    const voucher = await resolveGuess(tx, service, opened)
    if (voucher instanceof ApiError) return voucher
    const shown = await toVoucher(tx, service, voucher)
    const amount = named ?? shown.availableAmount
    const standing = { ...shown, state: shown.status, balance: toMinorUnits(shown.availableAmount, settings) }
    return (
      checkValidatable(standing, toMinorUnits(amount, settings), settings) ??
      (await against(tx)) ?? { voucher, shown, amount }
    )
  })
  if (judged instanceof ApiError) return async () => judged
  const { voucher, shown, amount } = judged
  // To ask is to end the validation before: it changes something.
  const upstreamId = isTrial ? '' : await validateAtBackOffice(client, number, pin, amount)
  if (upstreamId instanceof ApiError) return async () => upstreamId
  const { validationId, hash } = made
  return async tx => {
    await keepValidation(tx, keys, service, voucher, { hash, upstreamId })
    return { ...shown, validationId }
  }
}

/** Holds a voucher for its newest validation, holds it anew, or gives it back. */
async function lockByValidation(
  client: Client,
  write: Write,
  { number, validationId, lockSeconds }: { number: string; validationId: string; lockSeconds: number },
): Promise<CommitPhase<Voucher | ApiError>> {
  const { step, keys, service, username, origin } = write
  const judged = await step(
    async tx => {
      const taken = await lockUpstream(tx, service, number)
      const judged = checkValidation(keys, service, taken, number, validationId)
      if (!taken || judged === 'wrong') return countWrongId(tx, keys, service, origin)
      const isNew = lockSeconds > 0 && taken.state !== 'locked'
      const against = checkLockable(taken, judged, lockSeconds) ?? (isNew ? await checkLockLimit(tx, write) : undefined)
      if (against) return against
      // Held here from now on: whatever becomes of this, nobody else's validation ends what may be a lock.
      if (isNew) await storeLock(tx, service, number, lockSeconds, username)
      return { taken, isNew }
    },
    { names: [getVoucherLock(number)] },
  )
  if (judged instanceof ApiError) return async () => judged
  const { taken, isNew } = judged
  const upstreamId = upstreamValidationOf(keys, service, taken)
  const refusal = await lockAtBackOffice(client, write, { number, upstreamId, lockSeconds }).catch(async error => {
    const isRefused = error instanceof ApiError && error.code !== 'outcome_unknown'
    if (isRefused && isNew) await step(tx => storeLock(tx, service, number, 0, username))
    throw error
  })
  return async tx => {
    // Somebody has validated the voucher elsewhere, at a till: what we have opens nothing any more.
    if (refusal) await endUpstreamValidation(tx, service, number)
    else await storeLock(tx, service, number, lockSeconds, username)
    return refusal ?? toVoucher(tx, service, taken.voucher)
  }
}

/** Locks, renews or unlocks at the back office; returns the error where it does not know the validation any more. */
async function lockAtBackOffice(
  client: Client,
  write: Write,
  { number, upstreamId, lockSeconds }: { number: string; upstreamId: string; lockSeconds: number },
) {
  try {
    await performWrite(client, write, {
      endpoint: 'voucherLock',
      method: 'PUT',
      path: ['Voucher', 'Lock', number],
      query: { ValidationId: upstreamId, LockSeconds: lockSeconds },
    })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_id_incorrect') return error
    throw error
  }
  return
}

/**
 * What an order has to name to the back office so that it draws on a voucher. Throws what stands against it, as the embedded back office
 * does (`requireDrawable`).
 */
export async function requireDrawableValidation(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, amount, pointer }: VoucherPayment,
): Promise<string> {
  const { settings } = service
  const taken = await lockUpstream(tx, service, number)
  const judged = checkValidation(keys, service, taken, number, validationId)
  requireRedeemable(taken, judged, toMinorUnits(amount, settings), settings, pointer)
  return upstreamValidationOf(keys, service, taken)
}

/**
 * Notes what an order has drawn on a voucher: the validation that it named is spent, and the lock that this held. One that somebody else has
 * asked for since knows of the draw, and stays.
 */
export async function recordRedemption(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, amount }: VoucherPayment,
): Promise<void> {
  const taken = await lockUpstream(tx, service, number)
  if (checkValidation(keys, service, taken, number, validationId) !== 'newest') return
  await takeOff(tx, service, number, amount)
  await endUpstreamValidation(tx, service, number)
}
