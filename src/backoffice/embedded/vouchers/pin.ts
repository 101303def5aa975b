import { timingSafeEqual } from 'node:crypto'
import type { VoucherOpening } from '../../../domain/vouchers/vouchers.ts'
import { ApiError } from '../../../errors/api-error.ts'
import { hashPin, resetWrongPins } from '../../../store/vouchers/pin.ts'
import type { WithTransaction } from '../../../writes/write.ts'
import type { VoucherRead } from '../../port/vouchers.ts'
import { beginGuess, countWrongGuess } from '../../vouchers/guesses.ts'

/**
 * Judges a PIN; returns why the voucher does not open, undefined where it does. A wrong PIN, an unknown number and a voucher that
 * refuses are one and the same answer: whether the number exists makes no difference to what is read, compared and written, so
 * time does not tell either (contract 7). What is counted has to be committed: the error is returned, not thrown.
 */
export async function judgePin(
  { tx, keys, service, origin }: WithTransaction<VoucherRead>,
  { number, pin }: VoucherOpening,
): Promise<ApiError | undefined> {
  const given = hashPin(keys, service, number, pin)
  const guess = await beginGuess(tx, keys, service, { number, origin })
  if (guess instanceof ApiError) return guess
  const isRight = timingSafeEqual(given, guess.pinHash ?? Buffer.alloc(given.length))
  if (!isRight || guess.isRefused) return countWrongGuess(tx, service, guess)
  await resetWrongPins(tx, service, guess)
  return
}
