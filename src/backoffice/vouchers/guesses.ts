import { computeHmac, type Keys } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../errors/api-error.ts'
import { countFailure, type FailureLimit } from '../../store/accounts/failures.ts'
import { type Alert, raiseAlert } from '../../store/alerts/alerts.ts'
import { blockGuesses, countWrongPin, lockGuesses, type PinState } from '../../store/vouchers/pin.ts'
import type { Origin } from '../../writes/write.ts'

/** Wrong PINs per minute over all vouchers of a service: from one IP address, and from one account with any IP address. */
const maxWrongPins = { address: 30, account: 300 }
/** Wrong validation IDs per minute from one IP address. Right ones are never rejected: with 192 random bits, the limit is for monitoring only. */
const maxWrongIds = 30

/** Consecutive wrong PINs that block a voucher: for 30 s at first, then twice as long each time, up to a day. */
export const failuresBeforeBlock = 5
const getBlockSeconds = (failures: number) =>
  failures < failuresBeforeBlock ? 0 : Math.min(86_400, 30 * 2 ** (failures - failuresBeforeBlock))

/** A limit of wrong PINs per minute. When it is reached, all PINs of the subject are rejected until the minute ends, and the alert is raised. */
interface GuessLimit extends FailureLimit {
  alert: Alert
}

/** A check of a PIN. Until the transaction ends, no other request can check a PIN of the same number. With Apparel21, the row lock on the voucher has the same effect. */
export interface Guess extends Pick<PinState, 'pinHash' | 'isBlocked'> {
  number: string
  subject: Buffer
  limits: readonly GuessLimit[]
}

/** Begins a check of a PIN. Returns an error if there were too many wrong PINs. The caller must count a failed check: `countWrongGuess`. */
export async function beginGuess(
  tx: Db,
  keys: Keys,
  service: Service,
  { number, origin }: { number: string; origin: Origin },
): Promise<Guess | ApiError> {
  const subject = computeHmac(keys.subjects, 'voucher', String(service.id), number)
  const limits = getGuessLimits(keys, service, origin)
  const { failureCounts, secondsLeft, ...state } = await lockGuesses(tx, service, number, {
    subject,
    counted: limits.map(limit => limit.subject),
  })
  if (limits.some(({ allowed }, i) => (failureCounts[i] ?? 0) >= allowed))
    return new ApiError('too_many_failures', undefined, { retryAfter: Math.max(1, secondsLeft) })
  return { ...state, number, subject, limits }
}

/** Returns the names that identify a source. An IP address that an account reports counts per account, so that one account can't block another's shoppers. */
const getSourceNames = ({ address, reportedBy }: Origin) =>
  reportedBy === undefined ? [address] : [reportedBy, address]

function getGuessLimits(keys: Keys, service: Service, origin: Origin): GuessLimit[] {
  const hashSubject = (...parts: string[]) => computeHmac(keys.subjects, 'pin', String(service.id), ...parts)
  const { address: allowed, account } = maxWrongPins
  const addressLimit: GuessLimit = {
    subject: hashSubject(...getSourceNames(origin)),
    allowed,
    alert: {
      kind: 'voucher_pin_guessing_by_ip',
      subject: '',
      detail: `${allowed} wrong voucher PINs came from this IP address within a minute. It is blocked until the minute ends.`,
    },
  }
  if (origin.account === undefined) return [addressLimit]
  const detail = `${account} wrong voucher PINs came from this account within a minute. It is blocked until the minute ends.`
  const alert: Alert = { kind: 'voucher_pin_guessing_by_account', subject: origin.account, detail }
  return [addressLimit, { subject: hashSubject(origin.account, 'all'), allowed: account, alert }]
}

/** Counts a wrong PIN, or one that was not checked. Returns the error for the client. The transaction must be committed. */
export async function countWrongGuess(tx: Db, service: Service, { number, subject, limits }: Guess): Promise<ApiError> {
  const failures = await countWrongPin(tx, service, subject)
  const blockSeconds = getBlockSeconds(failures)
  if (blockSeconds > 0) {
    await blockGuesses(tx, service, subject, blockSeconds)
    await raiseAlert(tx, service.id, {
      kind: 'voucher_pin_guessing',
      subject: number,
      detail: `${failures} wrong PINs in a row. The voucher is blocked for a while.`,
    })
  }
  for (const { subject: limitSubject, allowed, alert } of limits)
    if (await countFailure(tx, [{ subject: limitSubject, allowed: allowed - 1 }]))
      await raiseAlert(tx, service.id, alert)
  return new ApiError('voucher_not_accepted')
}

/**
 * Counts a PIN that is sent with a used idempotency key. If the request is another one, it counts as a wrong PIN, because the key's error
 * reveals that the PIN differs. Returns an error if the voucher is blocked, so that the response reveals nothing. Returns undefined if the key decides.
 */
export async function countReplayedGuess(
  tx: Db,
  keys: Keys,
  service: Service,
  { isOther, ...attempt }: { number: string; origin: Origin; isOther: boolean },
): Promise<ApiError | undefined> {
  const guess = await beginGuess(tx, keys, service, attempt)
  if (guess instanceof ApiError) return guess
  const error = isOther || guess.isBlocked ? await countWrongGuess(tx, service, guess) : undefined
  return guess.isBlocked ? error : undefined
}

/** Counts a wrong validation ID. Returns the error for the client. The transaction must be committed. */
export async function countWrongId(tx: Db, keys: Keys, service: Service, origin: Origin): Promise<ApiError> {
  const subject = computeHmac(keys.subjects, 'validation', String(service.id), ...getSourceNames(origin))
  const retryAfter = await countFailure(tx, [{ subject, allowed: maxWrongIds }])
  return retryAfter === undefined
    ? new ApiError('validation_id_incorrect')
    : new ApiError('too_many_failures', undefined, { retryAfter })
}
