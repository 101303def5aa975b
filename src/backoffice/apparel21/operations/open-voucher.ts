import type { Db } from '../../../database/db.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import type { VoucherState } from '../../../domain/vouchers/states.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { resetWrongPins } from '../../../store/vouchers/pin.ts'
import { readLockState, type UpstreamVoucher } from '../../../store/vouchers/upstream.ts'
import type { VoucherRead } from '../../port/vouchers.ts'
import { beginGuess, countWrongGuess, type Guess } from '../../vouchers/guesses.ts'
import type { Client } from '../client/client.ts'
import { findRetailApiError, RetailApiError } from '../client/retail-api-error.ts'
import { readAmount, readDate, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Returns the name of the lock that serialises all calls about a voucher. */
export const getVoucherLock = (number: string) => `voucher ${number}`

/** True if a number is safe in a path. It must contain a digit, because the Retail API's own path words have none. */
const isVoucherNumber = (number: string) => /^(?=.*\d)[\w-]{1,50}$/.test(number)

/** The result of an attempt to open a voucher: the voucher, the wrong guess to be counted, or the reason why no request was sent. */
type OpeningResult = { guess: Guess; voucher: UpstreamVoucher | undefined } | ApiError

/** Looks up the voucher of a number and PIN. Throws if the voucher exists and can't be used. */
export async function openVoucher(
  client: Client,
  { stage, keys, service, origin }: VoucherRead,
  { number, pin }: { number: string; pin: string },
): Promise<OpeningResult> {
  const guess = await stage(tx => beginGuess(tx, keys, service, { number, origin }), {
    names: [getVoucherLock(number)],
  })
  if (guess instanceof ApiError) return guess
  if (guess.isBlocked || !isVoucherNumber(number)) return { guess, voucher: undefined }
  const response = await queryVoucher(client, { endpoint: 'voucher', path: ['Voucher', number], query: { pin } })
  if (response instanceof ApiError && response.code !== 'voucher_not_accepted') throw response
  const voucher = response instanceof ApiError ? undefined : parseVoucher(response, service)
  // A voucher with a similar number would bypass the guess counter and the lock, which are keyed by number.
  return { guess, voucher: voucher?.number === number ? voucher : undefined }
}

/** Counts a wrong guess. A correct guess resets the count. */
export async function resolveGuess(
  tx: Db,
  service: Service,
  opened: OpeningResult,
): Promise<UpstreamVoucher | ApiError> {
  if (opened instanceof ApiError) return opened
  const { guess, voucher } = opened
  if (!voucher) return countWrongGuess(tx, service, guess)
  await resetWrongPins(tx, service, guess)
  return voucher
}

/** Validates a voucher that number and PIN have just opened. Returns the back office's validation ID, or the error. */
export async function validateAtBackOffice(
  client: Client,
  number: string,
  pin: string,
  amount: string,
): Promise<string | ApiError> {
  const query = { pin, amount }
  const response = await queryVoucher(client, {
    endpoint: 'voucherValidation',
    path: ['Voucher', 'GVValid', number],
    query,
  })
  // In a lookup, 5056 means that the voucher doesn't exist. In a validation of an existing voucher, it means that the voucher is expired.
  if (findRetailApiError(response)?.code === 5056)
    return new ApiError('voucher_unusable', 'The voucher has expired.', { members: { reason: 'expired' } })
  return response instanceof ApiError
    ? response
    : (readText(response, 'ValidationId') ?? new ApiError('back_office_error'))
}

interface VoucherQuery {
  endpoint: 'voucher' | 'voucherValidation'
  path: readonly string[]
  query: { pin: string; amount?: string }
}

/** Queries a voucher. Returns an `ApiError` if the Retail API rejects the query, without its message, which can quote the PIN. */
async function queryVoucher(client: Client, query: VoucherQuery): Promise<Xml | ApiError> {
  try {
    return (await client.document({ ...query, roots: ['Voucher'] })) ?? new ApiError('voucher_not_accepted')
  } catch (error) {
    const rejection = findRetailApiError(error)
    if (!(error instanceof ApiError) || !rejection) throw error
    error.cause = new RetailApiError(rejection.status, rejection.code, '')
    return error
  }
}

function parseVoucher(element: Xml, { settings: { currency } }: Service): UpstreamVoucher {
  const readBalance = (name: string) => {
    const amount = readAmount(element, getDecimals(currency), name)
    if (amount === null || amount.startsWith('-')) throw new ApiError('back_office_error')
    return amount
  }
  return {
    number: readText(element, 'VoucherNumber') ?? '',
    currency,
    originalAmount: readBalance('OriginalAmount'),
    usedAmount: readBalance('UsedAmount'),
    availableAmount: readBalance('AvailableAmount'),
    expiryDate: readDate(element, 'ExpiryDate'),
  }
}

/** Converts a voucher into the API's record, with its lock and its current status. */
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
