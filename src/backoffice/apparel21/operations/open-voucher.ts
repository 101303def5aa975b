import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { amount, decimalsOf } from '../../../domain/values/money.ts'
import type { VoucherState } from '../../../domain/vouchers/states.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { forgetGuesses } from '../../../store/vouchers/pin.ts'
import { standingNow, type UpstreamVoucher } from '../../../store/vouchers/upstream.ts'
import type { VoucherRead } from '../../port/vouchers.ts'
import { beginGuess, countWrongGuess, type Guess } from '../../vouchers/guesses.ts'
import type { Client } from '../client/client.ts'
import { Refusal, refusalBehind } from '../client/rejection.ts'
import { day, money, text } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** What a voucher is held by. */
export const nameOf = (number: string) => `voucher ${number}`

/** A number that can stand in a path, and that this system may have: the words of its own paths have no digit. */
const isNumber = (number: string) => /^(?=.*\d)[\w-]{1,50}$/.test(number)

/** What came of a guess: the voucher that it opens, or the guess, to be counted; or why nobody was asked. */
type Opened = { guess: Guess; voucher: UpstreamVoucher | undefined } | ApiError

/** Asks what number and PIN open. What is the matter with a voucher that they open is thrown. */
export async function openVoucher(
  client: Client,
  { step, keys, service, origin }: VoucherRead,
  { number, pin }: { number: string; pin: string },
): Promise<Opened> {
  const guess = await step(tx => beginGuess(tx, keys, service, { number, origin }), { names: [nameOf(number)] })
  if (guess instanceof ApiError) return guess
  if (guess.isRefused || !isNumber(number)) return { guess, voucher: undefined }
  const found = await ask(client, { endpoint: 'voucher', path: ['Voucher', number], query: { pin } })
  if (found instanceof ApiError && found.code !== 'voucher_not_accepted') throw found
  const voucher = found instanceof ApiError ? undefined : voucherFrom(found, service)
  // One that only resembles what was asked for would get around what is counted, and held, by number.
  return { guess, voucher: voucher?.number === number ? voucher : undefined }
}

/** Counts a guess that opens nothing, and forgets those before one that does. */
export async function judgedGuess(tx: Db, service: Service, opened: Opened): Promise<UpstreamVoucher | ApiError> {
  if (opened instanceof ApiError) return opened
  const { guess, voucher } = opened
  if (!voucher) return countWrongGuess(tx, service, guess)
  await forgetGuesses(tx, service, guess)
  return voucher
}

/** Validates a voucher that number and PIN have just opened. Returns the back office's id, or what it refuses it for. */
export async function validateUpstream(
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

/** A voucher as callers see it at this moment: with our lock, and expired where its last day is over. */
export async function shownVoucher(db: Db, service: Service, voucher: UpstreamVoucher) {
  const { lockedUntil, isPast } = await standingNow(db, service, voucher)
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
