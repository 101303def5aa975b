import type { Db } from '../../db.ts'
import { ApiError } from '../../errors.ts'
import { countFailure } from '../../failures.ts'
import { hmac, type Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { raiseAlert } from '../../store/running/alerts.ts'
import { type Guarded, putFailures, takeGuess } from '../../store/vouchers/pin.ts'

/** Wrong PINs of one address in a minute, over all vouchers of a service; then it is refused whatever it sends. */
const wrongPinsAllowed = 30
/** Wrong validation ids of one address in a minute. They have 192 random bits: the count is there to be noticed, and refuses no right one. */
const wrongIdsAllowed = 30

/** After so many wrong PINs in a row a voucher refuses, for 30 s at first, then twice as long each time, a day at most. */
const freeFailures = 5
const refusedSecondsAfter = (failures: number) =>
  failures < freeFailures ? 0 : Math.min(86_400, 30 * 2 ** (failures - freeFailures))

/** A guess at a PIN. Until the transaction ends nobody else guesses at the same number. */
export interface Guess extends Pick<Guarded, 'pinHash' | 'failures' | 'isRefused'> {
  number: string
  subject: Buffer
  addressSubject: Buffer
}

/** Begins a guess; an error where the address has had too many wrong ones. One that comes to nothing is counted: `countWrongGuess`. */
export async function beginGuess(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, address }: { number: string; address: string },
): Promise<Guess | ApiError> {
  const subject = hmac(keys.subjects, 'voucher', String(service.id), number)
  const addressSubject = hmac(keys.subjects, 'pin', String(service.id), address)
  const { fromAddress, secondsLeft, ...guarded } = await takeGuess(tx, service, number, { subject, addressSubject })
  if (fromAddress >= wrongPinsAllowed)
    return new ApiError('too_many_failures', undefined, { retryAfter: Math.max(1, secondsLeft) })
  return { ...guarded, number, subject, addressSubject }
}

/** Counts a guess at a PIN that was wrong, or not looked at. Returns the answer to it, which has to be committed. */
export async function countWrongGuess(
  tx: Db,
  service: Service,
  { number, subject, addressSubject, ...before }: Guess,
): Promise<ApiError> {
  const failures = before.failures + 1
  const refusedSeconds = refusedSecondsAfter(failures)
  await putFailures(tx, service, subject, failures, refusedSeconds)
  if (refusedSeconds > 0)
    await raiseAlert(tx, service.id, {
      kind: 'voucher_refused',
      subject: number,
      detail: `After ${failures} wrong PINs in a row the voucher refuses for a while.`,
    })
  if (await countFailure(tx, [{ subject: addressSubject, allowed: wrongPinsAllowed - 1 }]))
    await raiseAlert(tx, service.id, {
      kind: 'voucher_address_refused',
      subject: '',
      detail: `An address that tried ${wrongPinsAllowed} wrong voucher PINs within a minute is refused until the minute ends.`,
    })
  return new ApiError('voucher_not_accepted')
}

/** Counts a validation id that there never was. Returns the answer to it, which has to be committed. */
export async function countWrongId(tx: Db, keys: Keys, service: Service, address: string): Promise<ApiError> {
  const subject = hmac(keys.subjects, 'validation', String(service.id), address)
  const retryAfter = await countFailure(tx, [{ subject, allowed: wrongIdsAllowed }])
  return retryAfter === undefined
    ? new ApiError('validation_id_incorrect')
    : new ApiError('too_many_failures', undefined, { retryAfter })
}
