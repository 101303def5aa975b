import type { Db } from '../../db.ts'
import { amount, decimalsOf } from '../../domain/money.ts'
import type { VoucherPayment } from '../../domain/orders/voucher-payments.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import { againstHolding, againstValidating, requireDrawable, tooManyHeld, unitsOf } from '../../domain/vouchers/use.ts'
import { judgeValidation, makeValidation } from '../../domain/vouchers/validations.ts'
import type { VoucherReading, VoucherWrites } from '../../domain/vouchers/vouchers.ts'
import type { Write } from '../../domain/write.ts'
import { ApiError } from '../../errors.ts'
import type { Service } from '../../settings.ts'
import { forgetGuesses } from '../../store/vouchers/pin.ts'
import {
  endUpstreamValidation,
  keepValidation,
  momentOf,
  noteDrawn,
  noteHeld,
  takeUpstream,
  type UpstreamVoucher,
  upstreamHeldBy,
  upstreamValidationOf,
} from '../../store/vouchers/upstream.ts'
import { beginGuess, countWrongGuess, countWrongId } from '../vouchers/guesses.ts'
import type { Client } from './calls/client.ts'
import { Refusal, refusalBehind } from './calls/refusal.ts'
import type { Upstream } from './lookup/upstream.ts'
import { sellVoucher } from './voucher-sale.ts'
import { day, money, text } from './xml/values.ts'
import type { Xml } from './xml/xml.ts'

/**
 * Gift vouchers that the back office keeps (contract 7). Who has the newest validation, and who holds a voucher, is known here: the back
 * office ends a validation when anybody asks for the next one, so it is not asked while somebody holds the voucher. Guesses are
 * counted here, before the back office is asked.
 */
export const voucherWrites = ({ client, release }: Upstream): VoucherWrites => ({
  async lookUpVoucher(reading, opening) {
    const opened = await openVoucher(client, reading, opening)
    return opened instanceof ApiError ? opened : shownVoucher(reading.tx, reading.service, opened)
  },

  async validateVoucher(reading, { number, pin, amount: named }) {
    const { tx, keys, service } = reading
    const { settings } = service
    const opened = await openVoucher(client, reading, { number, pin })
    if (opened instanceof ApiError) return opened
    // Whoever else validates, holds or draws it waits until this has ended.
    await takeUpstream(tx, service, number)
    const shown = await shownVoucher(tx, service, opened)
    const amount = named ?? shown.availableAmount
    const standing = { ...shown, state: shown.status, balance: unitsOf(shown.availableAmount, settings) }
    const against = againstValidating(standing, unitsOf(amount, settings), settings)
    if (against) return against
    const upstreamId = await validateUpstream(client, number, pin, amount)
    if (upstreamId instanceof ApiError) return upstreamId
    const { validationId, hash } = makeValidation(keys, service, number)
    await keepValidation(tx, keys, service, opened, { hash, upstreamId })
    return { ...shown, validationId }
  },

  async lockVoucher({ tx, keys, service, username, origin }, { number, validationId, lockSeconds }) {
    const taken = await takeUpstream(tx, service, number)
    const judged = judgeValidation(keys, service, taken, number, validationId)
    if (!taken || judged === 'wrong') return countWrongId(tx, keys, service, origin)
    const isNew = lockSeconds > 0 && taken.state !== 'locked'
    const against =
      againstHolding(taken, judged, lockSeconds) ??
      (isNew ? tooManyHeld(await upstreamHeldBy(tx, service, username)) : undefined)
    if (against) return against
    const upstreamId = upstreamValidationOf(keys, service, taken)
    const unknown = await lockUpstream(client, number, upstreamId, lockSeconds)
    // Somebody has validated the voucher elsewhere, at a till: what we have opens nothing any more.
    if (unknown) await endUpstreamValidation(tx, service, number)
    else await noteHeld(tx, service, number, lockSeconds, username)
    return unknown ?? shownVoucher(tx, service, taken.voucher)
  },

  issueVoucher: (write, input) => sellVoucher(client, release, write, input),
})

/** A number that can stand in a path, and that this system may have: the words of its own paths have no digit. */
const isNumber = (number: string) => /^(?=.*\d)[\w-]{1,50}$/.test(number)

/** What number and PIN open; an error that is returned has been counted. What is the matter with a voucher that they open is thrown. */
async function openVoucher(
  client: Client,
  { tx, keys, service, origin }: VoucherReading,
  { number, pin }: { number: string; pin: string },
): Promise<UpstreamVoucher | ApiError> {
  const guess = await beginGuess(tx, keys, service, { number, origin })
  if (guess instanceof ApiError) return guess
  if (guess.isRefused || !isNumber(number)) return countWrongGuess(tx, service, guess)
  const found = await ask(client, { endpoint: 'voucher', path: ['Voucher', number], query: { pin } })
  if (found instanceof ApiError && found.code !== 'voucher_not_accepted') throw found
  const voucher = found instanceof ApiError ? undefined : voucherFrom(found, service)
  // One that only resembles what was asked for would get around what is counted, and held, by number.
  if (voucher?.number !== number) return countWrongGuess(tx, service, guess)
  await forgetGuesses(tx, service, guess)
  return voucher
}

/** Validates a voucher that number and PIN have just opened. Returns the back office's id, or what it refuses it for. */
async function validateUpstream(
  client: Client,
  number: string,
  pin: string,
  amount: string,
): Promise<string | ApiError> {
  const query = { pin, amount }
  const found = await ask(client, { endpoint: 'voucherValidation', path: ['Voucher', 'GVValid', number], query })
  // The look-up says with this code that there is no such voucher; of one that there is, it says that it is over.
  if (refusalBehind(found)?.code === 5056)
    return new ApiError('voucher_unusable', 'The voucher is expired.', { members: { reason: 'expired' } })
  return found instanceof ApiError ? found : (text(found, 'ValidationId') ?? new ApiError('back_office_error'))
}

interface Question {
  endpoint: 'voucher' | 'voucherValidation'
  path: readonly string[]
  query: { pin: string; amount?: string }
}

/** The answer to a question about a voucher, or why there is none. Words of the back office, which may quote the PIN, go no further. */
async function ask(client: Client, question: Question): Promise<Xml | ApiError> {
  try {
    return (await client.document({ ...question, roots: ['Voucher'] })) ?? new ApiError('voucher_not_accepted')
  } catch (error) {
    const refusal = refusalBehind(error)
    if (!(error instanceof ApiError) || !refusal) throw error
    error.cause = new Refusal(refusal.status, refusal.code, '')
    return error
  }
}

function voucherFrom(found: Xml, { settings: { currency } }: Service): UpstreamVoucher {
  const amountOf = (name: string) => {
    const amount = money(found, decimalsOf(currency), name)
    if (amount === null || amount.startsWith('-')) throw new ApiError('back_office_error')
    return amount
  }
  return {
    number: text(found, 'VoucherNumber') ?? '',
    currency,
    originalAmount: amountOf('OriginalAmount'),
    usedAmount: amountOf('UsedAmount'),
    availableAmount: amountOf('AvailableAmount'),
    expiryDate: day(found, 'ExpiryDate'),
  }
}

/** Locks, renews or unlocks at the back office; returns the error where it does not know the validation any more. */
async function lockUpstream(client: Client, number: string, validationId: string, lockSeconds: number) {
  try {
    await client.write({
      endpoint: 'voucherLock',
      method: 'PUT',
      path: ['Voucher', 'Lock', number],
      query: { ValidationId: validationId, LockSeconds: lockSeconds },
    })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_id_incorrect') return error
    throw error
  }
  return
}

/** A voucher as callers see it at this moment: with our lock, and expired where its last day is over. */
async function shownVoucher(db: Db, service: Service, voucher: UpstreamVoucher) {
  const { lockedUntil, isPast } = await momentOf(db, service, voucher)
  const { currency, availableAmount } = voucher
  const isEmpty = !/[1-9]/.test(availableAmount)
  const status: VoucherState = lockedUntil !== null ? 'locked' : isPast ? 'expired' : isEmpty ? 'redeemed' : 'active'
  return {
    ...voucher,
    status,
    availableAmount: status === 'expired' ? amount(0n, decimalsOf(currency)) : availableAmount,
    lockedUntil,
    email: null,
  }
}

/**
 * What an order has to name to the back office so that it draws on a voucher; spends the validation, and the lock that it held, in the
 * transaction of the order. Throws what stands against it, as the embedded back office does (`requireDrawable`). An order with several
 * vouchers draws them in the order of their numbers, each once.
 */
export async function drawnValidation(
  { tx, keys, service }: Pick<Write, 'tx' | 'keys' | 'service'>,
  { number, validationId, amount, pointer }: VoucherPayment,
): Promise<string> {
  const { settings } = service
  const taken = await takeUpstream(tx, service, number)
  const judged = judgeValidation(keys, service, taken, number, validationId)
  requireDrawable(taken, judged, unitsOf(amount, settings), settings, pointer)
  const upstreamId = upstreamValidationOf(keys, service, taken)
  await noteDrawn(tx, service, number, amount)
  await endUpstreamValidation(tx, service, number)
  return upstreamId
}
