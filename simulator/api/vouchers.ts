import { createRejection } from '../http/errors.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatDate, secondMs } from '../shop/clock.ts'
import type { Voucher } from '../shop/records.ts'
import { roundToCents } from '../shop/shop.ts'
import { hasFeature, type World } from '../world/world.ts'
import { el, fields } from '../xml/element.ts'

export const isExpired = ({ expires }: Voucher, { clock }: World) =>
  expires !== '' && expires < formatDate(clock.wall())

export const isLocked = ({ lockedUntil }: Voucher, { clock }: World) => lockedUntil > clock.now()

/** Returns the available amount of a voucher. An expired voucher has none. */
export const getAvailable = (voucher: Voucher, world: World) =>
  isExpired(voucher, world) ? 0 : roundToCents(voucher.original - voucher.used - voucher.writtenOff)

/** Returns the voucher of a number and PIN. Throws an error response if it can't be used online. */
function requireOnlineVoucher(request: ApiRequest, world: World): Voucher {
  const voucher = world.shop.vouchers.get(request.parameters[0] ?? '')
  if (!voucher) throw createRejection(5056)
  if (!voucher.secure) throw createRejection(5055)
  if ((request.query('pin') ?? '') !== voucher.pin) throw createRejection(5053)
  if (voucher.state === 'not issued') throw createRejection(5057)
  if (voucher.state === 'suspended') throw createRejection(5056, { detail: 'it is suspended' })
  if (voucher.state === 'range suspended') throw createRejection(5059)
  if (hasFeature(world, 'voucherCurrency') && voucher.currency !== request.country.currency) throw createRejection(5219)
  if (!isExpired(voucher, world) && getAvailable(voucher, world) <= 0) throw createRejection(5054)
  return voucher
}

const buildVoucher = (voucher: Voucher, world: World, validationId?: string) =>
  el('Voucher', [
    ...fields({ VoucherNumber: voucher.number, ExpiryDate: voucher.expires && `${voucher.expires}T00:00:00` }),
    ...fields({
      OriginalAmount: voucher.original,
      UsedAmount: voucher.used,
      AvailableAmount: getAvailable(voucher, world),
    }),
    validationId === undefined ? undefined : el('ValidationId', validationId),
  ])

export const lookUpVoucher: Handler = (request, world) =>
  respondOk(buildVoucher(requireOnlineVoucher(request, world), world))

/** Returns a new validation ID, which replaces the previous one. The amount only matters for vouchers that must be used in full. */
export const validateVoucher: Handler = (request, world) => {
  const voucher = requireOnlineVoucher(request, world)
  const text = request.query('amount') ?? ''
  if (!/^\d{1,10}(\.\d+)?$/.test(text)) throw createRejection(5060)
  if (isExpired(voucher, world)) throw createRejection(5056, { text: 'Voucher has expired' })
  if (isLocked(voucher, world)) throw createRejection(5067)
  if (voucher.wholeOnly && Number(text) < getAvailable(voucher, world)) throw createRejection(5066)
  voucher.validationId = world.random.guid()
  world.recordEffect('voucher validated', voucher.number)
  return respondOk(buildVoucher(voucher, world, voucher.validationId))
}

/** Locks a voucher for `LockSeconds` (default: one hour); 0 unlocks it. Only the last validation ID is accepted. */
export const lockVoucher: Handler = (request, world) => {
  const voucher = world.shop.vouchers.get(request.parameters[0] ?? '')
  const id = (request.query('ValidationId') ?? '').toLowerCase()
  if (!voucher?.validationId || voucher.validationId !== id) throw createRejection(5061)
  const text = request.query('LockSeconds')
  const seconds = text ? parseInteger(text) : 3_600
  if (seconds === undefined || seconds < 0) throw createRejection(5109, { detail: 'LockSeconds' })
  voucher.lockedUntil = seconds === 0 ? 0 : world.clock.now() + seconds * secondMs
  world.recordEffect(seconds === 0 ? 'voucher unlocked' : 'voucher locked', voucher.number, { seconds })
  return respondOk()
}

/** Rejects requests for the simple feeds, because this shop has no licence for them. */
export const rejectUnlicensed: Handler = () => {
  throw createRejection(5247)
}
