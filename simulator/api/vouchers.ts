import { ok } from '../http/answers.ts'
import { createRejection } from '../http/errors.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { dateText, second } from '../shop/clock.ts'
import type { Voucher } from '../shop/records.ts'
import { cents } from '../shop/shop.ts'
import { has, type World } from '../world/world.ts'
import { el, fields } from '../xml/element.ts'

export const isExpired = ({ expires }: Voucher, { clock }: World) => expires !== '' && expires < dateText(clock.wall())

export const isLocked = ({ lockedUntil }: Voucher, { clock }: World) => lockedUntil > clock.now()

/** Expired vouchers have nothing left, whatever was not used. */
export const available = (voucher: Voucher, world: World) =>
  isExpired(voucher, world) ? 0 : cents(voucher.original - voucher.used - voucher.writtenOff)

/** The voucher of a number and PIN, if it may be used online at all. */
function openedBy(request: ApiRequest, world: World): Voucher {
  const voucher = world.shop.vouchers.get(request.parameters[0] ?? '')
  if (!voucher) throw createRejection(5056)
  if (!voucher.secure) throw createRejection(5055)
  if ((request.query('pin') ?? '') !== voucher.pin) throw createRejection(5053)
  if (voucher.state === 'not issued') throw createRejection(5057)
  if (voucher.state === 'suspended') throw createRejection(5056, { detail: 'it is suspended' })
  if (voucher.state === 'range suspended') throw createRejection(5059)
  if (has(world, 'voucherCurrency') && voucher.currency !== request.country.currency) throw createRejection(5219)
  if (!isExpired(voucher, world) && available(voucher, world) <= 0) throw createRejection(5054)
  return voucher
}

const voucherElement = (voucher: Voucher, world: World, validationId?: string) =>
  el('Voucher', [
    ...fields({ VoucherNumber: voucher.number, ExpiryDate: voucher.expires && `${voucher.expires}T00:00:00` }),
    ...fields({
      OriginalAmount: voucher.original,
      UsedAmount: voucher.used,
      AvailableAmount: available(voucher, world),
    }),
    validationId === undefined ? undefined : el('ValidationId', validationId),
  ])

export const lookUpVoucher: Handler = (request, world) => ok(voucherElement(openedBy(request, world), world))

/** Gives a validation id, and with it ends the life of the one before. The amount only matters for vouchers without change. */
export const validateVoucher: Handler = (request, world) => {
  const voucher = openedBy(request, world)
  const text = request.query('amount') ?? ''
  if (!/^\d{1,10}(\.\d+)?$/.test(text)) throw createRejection(5060)
  if (isExpired(voucher, world)) throw createRejection(5056, { text: 'Voucher has expired' })
  if (isLocked(voucher, world)) throw createRejection(5067)
  if (voucher.wholeOnly && Number(text) < available(voucher, world)) throw createRejection(5066)
  voucher.validationId = world.random.guid()
  world.note('voucher validated', voucher.number)
  return ok(voucherElement(voucher, world, voucher.validationId))
}

/** Locks a voucher for `LockSeconds` (default: one hour); 0 unlocks it. Only the last validation ID is accepted. */
export const lockVoucher: Handler = (request, world) => {
  const voucher = world.shop.vouchers.get(request.parameters[0] ?? '')
  const id = (request.query('ValidationId') ?? '').toLowerCase()
  if (!voucher?.validationId || voucher.validationId !== id) throw createRejection(5061)
  const text = request.query('LockSeconds')
  const seconds = text ? whole(text) : 3_600
  if (seconds === undefined || seconds < 0) throw createRejection(5109, { detail: 'LockSeconds' })
  voucher.lockedUntil = seconds === 0 ? 0 : world.clock.now() + seconds * second
  world.note(seconds === 0 ? 'voucher unlocked' : 'voucher locked', voucher.number, { seconds })
  return ok()
}

/** The simple feeds need a licence that this shop has not bought. */
export const notLicensed: Handler = () => {
  throw createRejection(5247)
}
