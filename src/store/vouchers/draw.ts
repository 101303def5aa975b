import { type Db, sql } from '../../db.ts'
import { decimalsOf, amount as text } from '../../domain/money.ts'
import { undrawable, unitsOf, unusable } from '../../domain/vouchers/rules.ts'
import { ApiError } from '../../errors.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'
import { takeStep, takeVoucher } from './ledger.ts'
import { endValidation, judgeValidation, supersededError } from './validation.ts'

interface Draw {
  number: string
  validationId: string
  /** With the currency's decimals. */
  amount: string
  /** The order that is paid with it. */
  orderNumber: string
  /** Where the voucher stands in the body, for what is wrong with it: `/payments/0/voucher`. */
  pointer: string
}

/**
 * Draws on a voucher in the transaction of the order that it pays; throws what stands against it: `validation_id_incorrect`,
 * `voucher_locked`, `voucher_unusable`, `insufficient_voucher_balance`, `voucher_must_be_used_in_full`. The validation is spent
 * with it, and the lock that it held. A sale that did not lock before holds the voucher for just this moment. An order with several
 * vouchers draws them in the order of their numbers (`a < b`, as `collate "C"` has it), each once, so that two orders cannot wait for each other.
 */
export async function drawVoucher(tx: Db, keys: Keys, service: Service, draw: Draw): Promise<void> {
  const { number, validationId, orderNumber, pointer } = draw
  const { settings } = service
  const wanted = unitsOf(draw.amount, settings)
  const voucher = await takeVoucher(tx, service, number)
  const judged = judgeValidation(keys, service, voucher, number, validationId)
  if (!voucher || judged !== 'newest')
    throw pointed(judged === 'superseded' ? supersededError(voucher) : new ApiError('validation_id_incorrect'), pointer)
  const against =
    unusable(voucher.state, voucher.currency, settings) ?? undrawable(wanted, voucher.balance, settings, pointer)
  if (against) throw pointed(against, pointer)
  const held = voucher.state === 'locked' ? voucher : await takeStep(tx, service, voucher, 'lock', { lockSeconds: 0 })
  await takeStep(tx, service, held, 'redeem', { change: -wanted, orderNumber })
  await endValidation(tx, service, number)
}

const pointed = ({ code, message, members, headers }: ApiError, pointer: string) =>
  new ApiError(code, message, { faults: [{ pointer, code, detail: message }], members, headers })

/**
 * Gives back to a voucher what was drawn of it for an order, or a part; `amount` with the currency's decimals. It never gets back
 * more than it gave for that order. A voucher that was spent can be used again; one that is expired or suspended stays so.
 */
export async function refundVoucher(
  tx: Db,
  service: Service,
  { number, amount, orderNumber }: { number: string; amount: string; orderNumber: string },
): Promise<void> {
  const voucher = await takeVoucher(tx, service, number)
  if (!voucher) throw new Error('what was drawn on is there')
  const units = unitsOf(amount, { ...service.settings, currency: voucher.currency })
  const drawn = await tx.row<{ covers: boolean }>(sql`
    select coalesce(-sum(amount), 0) >= ${text(units, decimalsOf(voucher.currency))}::numeric as covers
      from voucher_entry where service_id = ${service.id} and number = ${number} and order_number = ${orderNumber} and kind in ('redeem', 'refund')`)
  if (units <= 0n || !drawn?.covers) throw new Error('no more goes back to a voucher than was drawn of it')
  await takeStep(tx, service, voucher, 'refund', { change: units, orderNumber })
}
