import { randomUUID } from 'node:crypto'
import { type CouponReservationInput, parseReservationId, toReservationId } from '../../../domain/orders/coupons.ts'
import { sortErrors } from '../../../domain/orders/order-rules.ts'
import { createQuote, type QuotedLine } from '../../../domain/orders/quotes.ts'
import { formatAmount, getDecimals } from '../../../domain/values/money.ts'
import { ApiError, notFound } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { NotApplied, type Write } from '../../../writes/write.ts'
import { loadCart, toSkuIds } from '../../orders/cart.ts'
import type { CouponWrites } from '../../port/coupons.ts'
import type { Client } from '../client/client.ts'
import { performWrite, performWriteForDocument } from '../client/perform-write.ts'
import { featureReleases, type ReleaseReader } from '../client/release.ts'
import { couponRequestUnknown, findRetailApiError } from '../client/retail-api-error.ts'
import { appliesToLines, buildCouponPayload, parseCoupon, parseCouponLines } from '../mapping/coupons.ts'
import { parseOrThrow } from '../queries/adopted-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import { resolveGiftCardSkuId } from './voucher-sale.ts'

const redemptions = { endpoint: 'coupons', path: ['Coupons', 'Redemptions'], version: 1 } as const
const roots = ['CouponRedemption']

/**
 * Coupons that the back office keeps. A reservation is made under a request ID that derives from the write, and is not stored here.
 * If its outcome is unknown, a repeat releases it under the same request ID and then reserves the coupon again. So our own lock is never
 * mistaken for the lock of another sale. If the client doesn't repeat it, recovery releases it. An order redeems the coupon by the request ID
 * in its quote.
 */
export const createCouponWrites = ({ client, release }: Upstream): CouponWrites => ({
  async validateCoupon(_, { code, customerId }) {
    await requireCoupons(release)
    const body = buildCouponPayload({ requestId: randomUUID(), customerId, code, isReserved: false })
    const root = await client.document({ ...redemptions, method: 'POST', body, roots })
    if (!root) throw new ApiError('back_office_error')
    return parseCoupon(root, code)
  },

  async reserveCoupon(write, input) {
    const { keys, service } = write
    const requestId = write.reference.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    if (write.isRecovering) {
      // Without its caller, a reservation has no use, but locks the coupon for 24 hours.
      await releaseRequest(client, requestId)
      throw new NotApplied()
    }
    await requireCoupons(release)
    const decimals = getDecimals(service.settings.currency)
    const variants = await validateReservation(write, input)
    const skuIds = toSkuIds(variants)
    const lines = input.lines.map(line => ({ ...line, price: variants.get(line.sku)?.price ?? '' }))
    if (write.previouslyInDoubt()) await releaseRequest(client, requestId)
    const payload = { requestId, customerId: input.customerId, code: input.code, lines }
    const body = buildCouponPayload({ ...payload, isReserved: !write.isDryRun }, skuIds)
    const root = write.isDryRun
      ? await client.document({ ...redemptions, method: 'POST', body, roots })
      : await performWriteForDocument(client, write, { ...redemptions, method: 'POST', body, roots })
    if (!root) throw new ApiError('back_office_error')
    let quoted: QuotedLine[]
    try {
      if (!appliesToLines(root)) throw new ApiError('coupon_unusable', "The coupon doesn't apply to these items.")
      quoted = parseOrThrow(client, () => parseCouponLines(root, input, skuIds, decimals))
    } catch (error) {
      // The coupon is reserved, but no order could use it.
      if (!write.isDryRun) {
        await releaseRequest(client, requestId)
        write.recordEffect('not_applied')
      }
      throw error
    }
    const freight = input.freight ?? formatAmount(0n, decimals)
    const quote = createQuote(keys, service, { customerId: input.customerId, lines: quoted, freight }, [])
    return async () => ({
      id: toReservationId(keys, service, requestId),
      ...parseCoupon(root, input.code),
      quote,
    })
  },

  async releaseCoupon(write, id) {
    await requireCoupons(release)
    const requestId = parseReservationId(write.keys, write.service, id)
    if (requestId === undefined) throw notFound('coupon reservation')
    await write.stage(async () => {})
    // A second release has no effect, so recovery repeats it.
    if (write.isRecovering) await releaseRequest(client, requestId)
    else await ignoreUnknownRequest(performWrite(client, write, buildRelease(requestId)))
    return async () => {}
  },
})

async function requireCoupons(release: ReleaseReader) {
  if (await release.hasOrThrow('coupons')) return
  throw new ApiError('capability_unavailable', `Coupons need back-office version ${featureReleases.coupons} or later.`)
}

const buildRelease = (requestId: string) =>
  ({ ...redemptions, method: 'DELETE', path: [...redemptions.path, requestId] }) as const

const releaseRequest = (client: Client, requestId: string) =>
  ignoreUnknownRequest(client.write(buildRelease(requestId)))

/** A request that the back office doesn't know has no reservation, or a generic coupon, which is not reserved. */
async function ignoreUnknownRequest(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (findRetailApiError(error)?.code !== couponRequestUnknown) throw error
  }
}

/** Validates a reservation against our tables, and returns its SKUs. Throws all its errors at once. */
const validateReservation = ({ stage, service }: Write, input: CouponReservationInput) =>
  stage(async tx => {
    const { variants, errors } = await loadCart(tx, service, input, resolveGiftCardSkuId)
    throwIfAny(sortErrors(errors))
    return variants
  })
