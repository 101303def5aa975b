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
  decryptUpstreamValidation,
  endUpstreamValidation,
  lockUpstream,
  recordDraw,
  storeLock,
  storeUpstreamValidation,
} from '../../../store/vouchers/upstream.ts'
import { type CommitPhase, mapCommitPhase, NotApplied, type Write } from '../../../writes/write.ts'
import type { VoucherRead, VoucherWrites } from '../../port/vouchers.ts'
import { countWrongId } from '../../vouchers/guesses.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import type { Upstream } from '../queries/upstream.ts'
import { getVoucherLock, openVoucher, resolveGuess, toVoucher, validateAtBackOffice } from './open-voucher.ts'
import { sellVoucher } from './voucher-sale.ts'

/**
 * Gift vouchers that the back office stores. Tillbridge stores the newest validation and the lock of each voucher.
 * A validation ends the previous one in the back office, so it is only requested while no other account has the lock. Calls about one
 * voucher are serialised. Wrong PINs are counted before the back office is called.
 */
export const createVoucherWrites = ({ client, ...upstream }: Upstream): VoucherWrites => ({
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
    // Recovery: a possible lock was recorded before the request, so there is nothing to find out.
    if (write.isRecovering) throw new NotApplied()
    if ('validationId' in lock) return lockByValidation(client, write, lock)
    const { service, keys, stage, username, reference } = write
    const { number, pin, amount = '', lockSeconds } = lock
    const derived = deriveValidation(keys, service, number, [reference, pin, amount])
    const lockValidated = async (validationId: string) => {
      const locked = await lockByValidation(client, write, { number, lockSeconds, validationId })
      return mapCommitPhase(locked, voucher => (voucher instanceof ApiError ? voucher : { ...voucher, validationId }))
    }
    // The validation is derived from this write, so only an earlier attempt can have locked the voucher with it.
    const isLockedByEarlierAttempt = async (tx: Db) => {
      const stored = await lockUpstream(tx, service, number)
      const status = checkValidation(keys, service, stored, number, derived.validationId)
      return status === 'newest' && stored?.state === 'locked' && stored.isFresh
    }
    if (write.isKeyed && (await stage(isLockedByEarlierAttempt, { names: [getVoucherLock(number)] })))
      return lockValidated(derived.validationId)
    // A new validation ends the previous one, so reject the request before validating if the account has too many locks.
    const precheck = async (tx: Db) => (lockSeconds > 0 ? checkLockLimit(tx, write) : undefined)
    const validate = await validateVoucher(client, write, lock, derived, precheck)
    if (write.isDryRun)
      return async tx => {
        const validated = await validate(tx)
        if (validated instanceof ApiError) return validated
        const { validationId, ...voucher } = validated
        await storeLock(tx, service, number, lockSeconds, username)
        return { ...(await toVoucher(tx, service, voucher)), validationId }
      }
    // No other write can intervene: this write has the voucher's lock until it ends.
    const validated = await stage(validate)
    if (validated instanceof ApiError) return async () => validated
    return lockValidated(validated.validationId)
  },

  issueVoucher: (write, input) => sellVoucher({ client, ...upstream }, write, input),
})

/** Returns an error if the account has the maximum number of voucher locks. */
const checkLockLimit = async (tx: Db, { service, username }: Write) =>
  checkAccountLocks(await countUpstreamLocks(tx, service, username))

/** Validates a voucher for an amount, by default for its available amount. `precheck` can reject the validation. */
async function validateVoucher(
  client: Client,
  reading: VoucherRead,
  { number, pin, amount: requestedAmount }: VoucherOpening & { amount?: string | undefined },
  validation = createValidation(reading.keys, reading.service, number),
  precheck: (tx: Db) => Promise<ApiError | undefined> = async () => undefined,
): Promise<CommitPhase<ValidatedVoucher | ApiError>> {
  const { stage, keys, service, isDryRun } = reading
  const { settings } = service
  const opened = await openVoucher(client, reading, { number, pin })
  const validated = await stage(async tx => {
    const voucher = await resolveGuess(tx, service, opened)
    if (voucher instanceof ApiError) return voucher
    const voucherRecord = await toVoucher(tx, service, voucher)
    const amount = requestedAmount ?? voucherRecord.availableAmount
    const status = {
      ...voucherRecord,
      state: voucherRecord.status,
      balance: toMinorUnits(voucherRecord.availableAmount, settings),
    }
    return (
      checkValidatable(status, toMinorUnits(amount, settings), settings) ??
      (await precheck(tx)) ?? { voucher, voucherRecord, amount }
    )
  })
  if (validated instanceof ApiError) return async () => validated
  const { voucher, voucherRecord, amount } = validated
  // Not in a dry run, because a validation ends the previous one.
  const upstreamId = isDryRun ? '' : await validateAtBackOffice(client, number, pin, amount)
  if (upstreamId instanceof ApiError) return async () => upstreamId
  const { validationId, hash } = validation
  return async tx => {
    await storeUpstreamValidation(tx, keys, service, voucher, { hash, upstreamId })
    return { ...voucherRecord, validationId }
  }
}

/** Locks a voucher by its newest validation, renews the lock, or unlocks the voucher if `lockSeconds` is 0. */
async function lockByValidation(
  client: Client,
  write: Write,
  { number, validationId, lockSeconds }: { number: string; validationId: string; lockSeconds: number },
): Promise<CommitPhase<Voucher | ApiError>> {
  const { stage, keys, service, username, origin } = write
  const validated = await stage(
    async tx => {
      const stored = await lockUpstream(tx, service, number)
      const status = checkValidation(keys, service, stored, number, validationId)
      if (!stored || status === 'wrong') return countWrongId(tx, keys, service, origin)
      const isNew = lockSeconds > 0 && stored.state !== 'locked'
      const error =
        checkLockable(stored, status, lockSeconds, service.settings) ??
        (isNew ? await checkLockLimit(tx, write) : undefined)
      if (error) return error
      // Recorded before the request: whatever its outcome, no other validation may end a possible lock.
      if (isNew) await storeLock(tx, service, number, lockSeconds, username)
      return { stored, isNew }
    },
    { names: [getVoucherLock(number)] },
  )
  if (validated instanceof ApiError) return async () => validated
  const { stored, isNew } = validated
  const upstreamId = decryptUpstreamValidation(keys, service, stored)
  const rejection = await lockAtBackOffice(client, write, { number, upstreamId, lockSeconds }).catch(async error => {
    const isRejected = error instanceof ApiError && error.code !== 'outcome_unknown'
    if (isRejected && isNew) await stage(tx => storeLock(tx, service, number, 0, username))
    throw error
  })
  return async tx => {
    // The voucher was validated outside Tillbridge, for example at a till, so the stored validation has ended.
    if (rejection) await endUpstreamValidation(tx, service, number)
    else await storeLock(tx, service, number, lockSeconds, username)
    return rejection ?? toVoucher(tx, service, stored.voucher)
  }
}

/** Locks, renews or unlocks at the back office. Returns the error if the validation has ended. */
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

/** Returns the back office's validation that an order must contain to redeem a voucher. Throws if the voucher can't be redeemed. */
export async function requireDrawableValidation(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, amount, pointer }: VoucherPayment,
): Promise<string> {
  const { settings } = service
  const stored = await lockUpstream(tx, service, number)
  const status = checkValidation(keys, service, stored, number, validationId)
  requireRedeemable(stored, status, toMinorUnits(amount, settings), settings, pointer)
  return decryptUpstreamValidation(keys, service, stored)
}

/**
 * Records the redemption of a voucher by an order: its validation and lock end. A newer validation was made after the redemption, so it
 * stays.
 */
export async function recordRedemption(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, amount }: VoucherPayment,
): Promise<void> {
  const stored = await lockUpstream(tx, service, number)
  if (checkValidation(keys, service, stored, number, validationId) !== 'newest') return
  await recordDraw(tx, service, number, amount)
  await endUpstreamValidation(tx, service, number)
}
