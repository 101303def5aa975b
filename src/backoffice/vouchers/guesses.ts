import { hmac, type Keys } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../errors/api-error.ts'
import { countFailure, type FailureLimit } from '../../store/accounts/failures.ts'
import { type Alert, raiseAlert } from '../../store/alerts/alerts.ts'
import { blockGuesses, countWrongPin, lockGuesses, type PinState } from '../../store/vouchers/pin.ts'
import type { Origin } from '../../writes/write.ts'

/** Wrong PINs in a minute, over all vouchers of a service: of one address; of one account, from wherever it asks and whomever it names. */
const wrongPinsAllowed = { address: 30, account: 300 }
/** Wrong validation ids of one address in a minute. They have 192 random bits: the count is there to be noticed, and refuses no right one. */
const wrongIdsAllowed = 30

/** After so many wrong PINs in a row a voucher refuses, for 30 s at first, then twice as long each time, a day at most. */
const freeFailures = 5
const refusedSecondsAfter = (failures: number) =>
  failures < freeFailures ? 0 : Math.min(86_400, 30 * 2 ** (failures - freeFailures))

/** What is counted of wrong PINs, and told once it is refused until the minute ends, whatever it sends. */
interface GuessLimit extends FailureLimit {
  alert: Alert
}

/** A check of a PIN. Until the transaction ends, no other request can check a PIN of the same number. With Apparel21, the row lock on the voucher has the same effect. */
export interface Guess extends Pick<PinState, 'pinHash' | 'isRefused'> {
  number: string
  subject: Buffer
  limits: readonly GuessLimit[]
}

/** Begins a guess; an error where there were too many wrong ones from there. One that comes to nothing is counted: `countWrongGuess`. */
export async function beginGuess(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, origin }: { number: string; origin: Origin },
): Promise<Guess | ApiError> {
  const subject = hmac(keys.subjects, 'voucher', String(service.id), number)
  const limits = limitsOf(keys, service, origin)
  const asked = { subject, counted: limits.map(limit => limit.subject) }
  const { counted, secondsLeft, ...guarded } = await lockGuesses(tx, service, number, asked)
  if (limits.some(({ allowed }, i) => (counted[i] ?? 0) >= allowed))
    return new ApiError('too_many_failures', undefined, { retryAfter: Math.max(1, secondsLeft) })
  return { ...guarded, number, subject, limits }
}

/** A shopper is one of the account that names them: by what one account says, nobody is refused who comes by another. */
const namesOf = ({ address, reportedBy }: Origin) => (reportedBy === undefined ? [address] : [reportedBy, address])

function limitsOf(keys: Keys, service: Service, origin: Origin): GuessLimit[] {
  const subject = (...parts: string[]) => hmac(keys.subjects, 'pin', String(service.id), ...parts)
  const { address: allowed, account } = wrongPinsAllowed
  const ofAddress: GuessLimit = {
    subject: subject(...namesOf(origin)),
    allowed,
    alert: {
      kind: 'voucher_pin_guessing_by_ip',
      subject: '',
      detail: `${allowed} wrong voucher PINs came from this IP address within a minute. It is blocked until the minute ends.`,
    },
  }
  const { account: asking } = origin
  if (asking === undefined) return [ofAddress]
  const detail = `${account} wrong voucher PINs came from this account within a minute. It is blocked until the minute ends.`
  const alert: Alert = { kind: 'voucher_pin_guessing_by_account', subject: asking, detail }
  return [ofAddress, { subject: subject(asking, 'all'), allowed: account, alert }]
}

/** Counts a guess at a PIN that was wrong, or not looked at. Returns the answer to it, which has to be committed. */
export async function countWrongGuess(tx: Db, service: Service, { number, subject, limits }: Guess): Promise<ApiError> {
  const failures = await countWrongPin(tx, service, subject)
  const refusedSeconds = refusedSecondsAfter(failures)
  if (refusedSeconds > 0) {
    await blockGuesses(tx, service, subject, refusedSeconds)
    await raiseAlert(tx, service.id, {
      kind: 'voucher_pin_guessing',
      subject: number,
      detail: `${failures} wrong PINs in a row. The voucher is blocked for a while.`,
    })
  }
  for (const { subject, allowed, alert } of limits)
    if (await countFailure(tx, [{ subject, allowed: allowed - 1 }])) await raiseAlert(tx, service.id, alert)
  return new ApiError('voucher_not_accepted')
}

/**
 * What a PIN comes to that comes with a key that was used: with another request it is counted as a wrong one, since what is told of the key
 * says as much; and while the voucher refuses nothing is told of the key. Undefined: it may be.
 */
export async function countGuessAgain(
  tx: Db,
  keys: Keys,
  service: Service,
  { isOther, ...guessing }: { number: string; origin: Origin; isOther: boolean },
): Promise<ApiError | undefined> {
  const guess = await beginGuess(tx, keys, service, guessing)
  if (guess instanceof ApiError) return guess
  const counted = isOther || guess.isRefused ? await countWrongGuess(tx, service, guess) : undefined
  return guess.isRefused ? counted : undefined
}

/** Counts a validation id that there never was. Returns the answer to it, which has to be committed. */
export async function countWrongId(tx: Db, keys: Keys, service: Service, origin: Origin): Promise<ApiError> {
  const subject = hmac(keys.subjects, 'validation', String(service.id), ...namesOf(origin))
  const retryAfter = await countFailure(tx, [{ subject, allowed: wrongIdsAllowed }])
  return retryAfter === undefined
    ? new ApiError('validation_id_incorrect')
    : new ApiError('too_many_failures', undefined, { retryAfter })
}
