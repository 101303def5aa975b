import type { Db } from '../../db.ts'
import { amount, decimalsOf } from '../../domain/money.ts'
import type { VoucherPayment } from '../../domain/orders/voucher-payments.ts'
import type { VoucherState } from '../../domain/vouchers/states.ts'
import { againstHolding, againstValidating, requireDrawable, tooManyHeld, unitsOf } from '../../domain/vouchers/use.ts'
import { judgeValidation, makeValidation } from '../../domain/vouchers/validations.ts'
import type { VoucherReading, VoucherWrites } from '../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../errors.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { forgetGuesses } from '../../store/vouchers/pin.ts'
import {
  endUpstreamValidation,
  keepValidation,
  momentOf,
  noteHeld,
  takeOff,
  takeUpstream,
  type UpstreamVoucher,
  upstreamHeldBy,
  upstreamValidationOf,
} from '../../store/vouchers/upstream.ts'
import { beginGuess, countWrongGuess, countWrongId, type Guess } from '../vouchers/guesses.ts'
import type { Client } from './calls/client.ts'
import { Refusal, refusalBehind } from './calls/refusal.ts'
import type { Upstream } from './lookup/upstream.ts'
import { sellVoucher } from './voucher-sale.ts'
import { day, money, text } from './xml/values.ts'
import type { Xml } from './xml/xml.ts'

/**
 * Gift vouchers that the back office keeps (contract 7). Who has the newest validation, and who holds a voucher, is known here: the back
 * office ends a validation when anybody asks for the next one, so it is not asked while somebody holds the voucher, and about one
 * voucher there is one question at a time. Guesses are counted here, before the back office is asked.
 */
export const voucherWrites = ({ client, release }: Upstream): VoucherWrites => ({
  async lookUpVoucher(reading, opening) {
    const opened = await openVoucher(client, reading, opening)
    const { service } = reading
    return async tx => {
      const voucher = await judgedGuess(tx, service, opened)
      return voucher instanceof ApiError ? voucher : shownVoucher(tx, service, voucher)
    }
  },

  async validateVoucher(reading, { number, pin, amount }) {
    const { step, keys, service } = reading
    const { settings } = service
    const opened = await openVoucher(client, reading, { number, pin })
    const judged = await step(async tx => {
      const voucher = await judgedGuess(tx, service, opened)
      if (voucher instanceof ApiError) return voucher
      const shown = await shownVoucher(tx, service, voucher)
      const standing = { ...shown, state: shown.status, balance: unitsOf(shown.availableAmount, settings) }
      return againstValidating(standing, unitsOf(amount, settings), settings) ?? { voucher, shown }
    })
    if (judged instanceof ApiError) return async () => judged
    const upstreamId = await validateUpstream(client, number, pin, amount)
    if (upstreamId instanceof ApiError) return async () => upstreamId
    const { voucher, shown } = judged
    const { validationId, hash } = makeValidation(keys, service, number)
    return async tx => {
      await keepValidation(tx, keys, service, voucher, { hash, upstreamId })
      return { ...shown, validationId }
    }
  },

  async lockVoucher({ step, keys, service, username, address, note }, { number, validationId, lockSeconds }) {
    const judged = await step(
      async tx => {
        const taken = await takeUpstream(tx, service, number)
        const judged = judgeValidation(keys, service, taken, number, validationId)
        if (!taken || judged === 'wrong') return countWrongId(tx, keys, service, address)
        const isNew = lockSeconds > 0 && taken.state !== 'locked'
        const against =
          againstHolding(taken, judged, lockSeconds) ??
          (isNew ? tooManyHeld(await upstreamHeldBy(tx, service, username)) : undefined)
        if (against) return against
        // Held here from now on: whatever becomes of this, nobody else's validation ends what may be a lock.
        if (isNew) await noteHeld(tx, service, number, lockSeconds, username)
        return { taken, isNew }
      },
      { names: [nameOf(number)] },
    )
    if (judged instanceof ApiError) return async () => judged
    const { taken, isNew } = judged
    const upstreamId = upstreamValidationOf(keys, service, taken)
    note('about to be')
    const refusal = await lockUpstream(client, number, upstreamId, lockSeconds).catch(async error => {
      const isRefused = error instanceof ApiError && error.code !== 'outcome_unknown'
      if (isRefused && isNew) await step(tx => noteHeld(tx, service, number, 0, username))
      throw error
    })
    note('done')
    return async tx => {
      // Somebody has validated the voucher elsewhere, at a till: what we have opens nothing any more.
      if (refusal) await endUpstreamValidation(tx, service, number)
      else await noteHeld(tx, service, number, lockSeconds, username)
      return refusal ?? shownVoucher(tx, service, taken.voucher)
    }
  },

  issueVoucher: (write, input) => sellVoucher(client, release, write, input),
})

/** What a voucher is held by. */
const nameOf = (number: string) => `voucher ${number}`

/** A number that can stand in a path, and that this system may have: the words of its own paths have no digit. */
const isNumber = (number: string) => /^(?=.*\d)[\w-]{1,50}$/.test(number)

/** What came of a guess: the voucher that it opens, or the guess, to be counted; or why nobody was asked. */
type Opened = { guess: Guess; voucher: UpstreamVoucher | undefined } | ApiError

/** Asks what number and PIN open. What is the matter with a voucher that they open is thrown. */
async function openVoucher(
  client: Client,
  { step, keys, service, address }: VoucherReading,
  { number, pin }: { number: string; pin: string },
): Promise<Opened> {
  const guess = await step(tx => beginGuess(tx, keys, service, { number, address }), { names: [nameOf(number)] })
  if (guess instanceof ApiError) return guess
  if (guess.isRefused || !isNumber(number)) return { guess, voucher: undefined }
  const found = await ask(client, { endpoint: 'voucher', path: ['Voucher', number], query: { pin } })
  if (found instanceof ApiError && found.code !== 'voucher_not_accepted') throw found
  const voucher = found instanceof ApiError ? undefined : voucherFrom(found, service)
  // One that only resembles what was asked for would get around what is counted, and held, by number.
  return { guess, voucher: voucher?.number === number ? voucher : undefined }
}

/** Counts a guess that opens nothing, and forgets those before one that does. */
async function judgedGuess(tx: Db, service: Service, opened: Opened): Promise<UpstreamVoucher | ApiError> {
  if (opened instanceof ApiError) return opened
  const { guess, voucher } = opened
  if (!voucher) return countWrongGuess(tx, service, guess)
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
 * What an order has to name to the back office so that it draws on a voucher. Throws what stands against it, as the embedded back office
 * does (`requireDrawable`).
 */
export async function drawableValidation(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, validationId, amount, pointer }: VoucherPayment,
): Promise<string> {
  const { settings } = service
  const taken = await takeUpstream(tx, service, number)
  const judged = judgeValidation(keys, service, taken, number, validationId)
  requireDrawable(taken, judged, unitsOf(amount, settings), settings, pointer)
  return upstreamValidationOf(keys, service, taken)
}

/** Notes what an order has drawn on a voucher: the validation is spent, and the lock that it held. */
export async function noteDrawn(tx: Db, service: Service, { number, amount }: VoucherPayment): Promise<void> {
  await takeOff(tx, service, number, amount)
  await endUpstreamValidation(tx, service, number)
}
