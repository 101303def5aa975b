import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import type { VoucherState } from '../../../domain/vouchers/states.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { forgetGuesses } from '../../../store/vouchers/pin.ts'
import { readLockState, type UpstreamVoucher } from '../../../store/vouchers/upstream.ts'
import type { VoucherRead } from '../../port/vouchers.ts'
import { beginGuess, countWrongGuess, type Guess } from '../../vouchers/guesses.ts'
import type { Client } from '../client/client.ts'
import { findRetailApiError, RetailApiError } from '../client/retail-api-error.ts'
import { readAmount, readDate, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** What a voucher is held by. */
export const getVoucherLock = (number: string) => `voucher ${number}`

/** A number that can stand in a path, and that this system may have: the words of its own paths have no digit. */
const isVoucherNumber = (number: string) => /^(?=.*\d)[\w-]{1,50}$/.test(number)

/** What came of a guess: the voucher that it opens, or the guess, to be counted; or why nobody was asked. */
type OpeningResult = { guess: Guess; voucher: UpstreamVoucher | undefined } | ApiError

/** Asks what number and PIN open. What is the matter with a voucher that they open is thrown. */
export async function openVoucher(
  client: Client,
  { step, keys, service, origin }: VoucherRead,
  { number, pin }: { number: string; pin: string },
): Promise<OpeningResult> {
  const guess = await step(tx => beginGuess(tx, keys, service, { number, origin }), { names: [getVoucherLock(number)] })
  if (guess instanceof ApiError) return guess
  if (guess.isRefused || !isVoucherNumber(number)) return { guess, voucher: undefined }
  const found = await queryVoucher(client, { endpoint: 'voucher', path: ['Voucher', number], query: { pin } })
  if (found instanceof ApiError && found.code !== 'voucher_not_accepted') throw found
  const voucher = found instanceof ApiError ? undefined : parseVoucher(found, service)
  // One that only resembles what was asked for would get around what is counted, and held, by number.
  return { guess, voucher: voucher?.number === number ? voucher : undefined }
}

/** Counts a guess that opens nothing, and forgets those before one that does. */
export async function resolveGuess(
  tx: Db,
  service: Service,
  opened: OpeningResult,
): Promise<UpstreamVoucher | ApiError> {
  if (opened instanceof ApiError) return opened
  const { guess, voucher } = opened
  if (!voucher) return countWrongGuess(tx, service, guess)
  await forgetGuesses(tx, service, guess)
  return voucher
}

/** Validates a voucher that number and PIN have just opened. Returns the back office's id, or what it refuses it for. */
export async function validateAtBackOffice(
  client: Client,
  number: string,
  pin: string,
  amount: string,
): Promise<string | ApiError> {
  const query = { pin, amount }
  const found = await queryVoucher(client, {
    endpoint: 'voucherValidation',
    path: ['Voucher', 'GVValid', number],
    query,
  })
  // The look-up says with this code that there is no such voucher; of one that there is, it says that it is over.
  if (findRetailApiError(found)?.code === 5056)
    return new ApiError('voucher_unusable', 'The voucher is expired.', { members: { reason: 'expired' } })
  return found instanceof ApiError ? found : (readText(found, 'ValidationId') ?? new ApiError('back_office_error'))
}

interface VoucherQuery {
  endpoint: 'voucher' | 'voucherValidation'
  path: readonly string[]
  query: { pin: string; amount?: string }
}

/** The answer to a question about a voucher, or why there is none. Words of the back office, which may quote the PIN, go no further. */
async function queryVoucher(client: Client, question: VoucherQuery): Promise<Xml | ApiError> {
  try {
    return (await client.document({ ...question, roots: ['Voucher'] })) ?? new ApiError('voucher_not_accepted')
  } catch (error) {
    const refusal = findRetailApiError(error)
    if (!(error instanceof ApiError) || !refusal) throw error
    error.cause = new RetailApiError(refusal.status, refusal.code, '')
    return error
  }
}

function parseVoucher(found: Xml, { settings: { currency } }: Service): UpstreamVoucher {
  const amountOf = (name: string) => {
    const amount = readAmount(found, getDecimals(currency), name)
    if (amount === null || amount.startsWith('-')) throw new ApiError('back_office_error')
    return amount
  }
  return {
    number: readText(found, 'VoucherNumber') ?? '',
    currency,
    originalAmount: amountOf('OriginalAmount'),
    usedAmount: amountOf('UsedAmount'),
    availableAmount: amountOf('AvailableAmount'),
    expiryDate: readDate(found, 'ExpiryDate'),
  }
}

/** A voucher as callers see it at this moment: with our lock, and expired where its last day is over. */
export async function toVoucher(db: Db, service: Service, voucher: UpstreamVoucher) {
  const { lockedUntil, isPast } = await readLockState(db, service, voucher)
  const { currency, availableAmount } = voucher
  const isEmpty = !/[1-9]/.test(availableAmount)
  const status: VoucherState = lockedUntil !== null ? 'locked' : isPast ? 'expired' : isEmpty ? 'redeemed' : 'active'
  return {
    ...voucher,
    status,
    availableAmount: status === 'expired' ? formatAmount(0n, getDecimals(currency)) : availableAmount,
    lockedUntil,
    email: null,
  }
}
