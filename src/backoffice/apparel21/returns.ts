import type { Db } from '../../db.ts'
import { inOrder, numberTaken } from '../../domain/orders/check.ts'
import type { OrderWrites } from '../../domain/orders/orders.ts'
import { judgeReturn } from '../../domain/orders/return-check.ts'
import { isAtLeast } from '../../domain/release.ts'
import type { Write } from '../../domain/write.ts'
import { ApiError, faulty, notFound } from '../../errors.ts'
import { refuse } from '../../refuse.ts'
import { beginChange } from '../../store/lists/change.ts'
import { stampOrder } from '../../store/orders/lines.ts'
import { holdOrder } from '../../store/orders/orders.ts'
import { insertReturn, insertReturnLines, returnNumberTaken, returnRecord } from '../../store/orders/returns.ts'
import type { Client } from './calls/client.ts'
import { effect } from './calls/effect.ts'
import { numberExists, refusalBehind } from './calls/refusal.ts'
import { type Release, since } from './calls/release.ts'
import { knownOrder } from './lookup/known-orders.ts'
import { orderNumbered } from './lookup/order-search.ts'
import type { Upstream } from './lookup/upstream.ts'
import { derivedNumber, markedNumber } from './records/numbers.ts'
import { comparableReason, faultsOfReturn, returnPayload } from './records/return-write.ts'
import { text } from './xml/values.ts'

/**
 * Makes returns with the back office. It does not refuse what is more than was bought: our tables do, and no two returns of an order are
 * under way at once. What a return does to stock, sales and rewards comes back with the feeds.
 */
export const createReturn =
  (upstream: Upstream): OrderWrites['createReturn'] =>
  async (write, orderId, input) => {
    const { service, keys, read } = write
    const known = await knownOrder(upstream, write, orderId)
    await requireReturns(upstream.release)
    if (!known) throw notFound('order')
    const { order, lines } = known
    const { customerId: personId } = order
    if (personId === null) throw notFound('customer')
    const returnNumber = input.returnNumber ?? undefined
    const restock = input.restock ?? true
    const { returnReasons } = service.settings
    const { faults, portions, lines: returned } = judgeReturn(input, { number: order.number, lines }, service.settings)
    const named = returnReasons.map(({ code }) => code).filter(code => returned.some(line => line.reasonCode === code))
    const reasonIds = await upstream.returnReasons.idsOf(named)
    const taken = numberTaken('/returnNumber', `There is a return ${returnNumber} already.`)
    const number = await read(db => freeNumber(db, write, order.id, returnNumber))
    refuse(
      inOrder([
        ...faults,
        ...faultsOfReturn(returned, returnReasons, reasonIds),
        ...(number === undefined ? [taken] : []),
      ]),
    )
    if (number === undefined) throw faulty([taken])

    const upstreamNumber = returnNumber === undefined ? number : markedNumber(keys, service, order.id, returnNumber)
    const authorisation = await give(upstream.client, write, {
      orderId: order.id,
      personId,
      number: upstreamNumber,
      body: returnPayload({
        number: upstreamNumber,
        restock,
        lines: returned,
        reasonIds,
        order: { number: order.number, personId },
        skuIds: new Map(lines.map(line => [line.sku, line.skuId])),
      }),
    })
    return async tx => {
      const held = await holdOrder(tx, service, { id: order.id })
      if (!held) throw new Error('no order is ever deleted')
      const made = await insertReturn(tx, service, held, { number, restock, authorisation })
      if (!made) throw faulty([taken])
      await insertReturnLines(tx, service, held, made.id, returned, portions)
      await stampOrder(tx, service, held, await beginChange(tx, service, ['sales_order']))
      const record = await returnRecord(tx, service, made.id)
      if (!record) throw new Error('what was just written is there')
      return { id: made.id, ...record }
    }
  }

/** The reasons of a service that the back office has as well: it takes no others. */
export const returnReasons =
  ({ returnReasons }: Upstream): OrderWrites['returnReasons'] =>
  async ({ settings }) => {
    // Where nobody can say what is new, what was known will do.
    const ids = await returnReasons
      .idsOf(settings.returnReasons.map(({ code }) => code))
      .catch(() => returnReasons.idsOf([]))
    return settings.returnReasons.filter(({ code }) => ids.has(comparableReason(code)))
  }

/** A release that is not known is given a try: the call itself will tell. */
async function requireReturns(release: Release) {
  const known = await release.read()
  if (known === undefined || isAtLeast(known, since.returns)) return
  throw new ApiError(
    'capability_unavailable',
    `Returns need release ${since.returns} of the back office; this one is ${known}.`,
  )
}

/** The number that is given, undefined where it is taken; else that of this write's return of this order, or, where it was used long ago, the one that follows. */
async function freeNumber(db: Db, { service, reference }: Write, orderId: string, given: string | undefined) {
  if (given !== undefined) return (await returnNumberTaken(db, service, given)) ? undefined : given
  for (let turn = 0; ; turn++) {
    const number = derivedNumber('R', `${reference} ${orderId}`, turn)
    if (!(await returnNumberTaken(db, service, number))) return number
  }
}

interface Given {
  orderId: string
  personId: string
  number: string
  body: string
}

/**
 * Makes a return, unless an earlier attempt has: only this service makes its number. Returns the number that the shopper writes on the
 * parcel; where that cannot be found out any more, the return's own, by which the head office finds it as well.
 */
async function give(client: Client, write: Write, { orderId, personId, number, body }: Given): Promise<string> {
  const path = ['Persons', personId, 'Orders', orderId, 'Returns']
  if (write.isTrial) return number
  const telling = { endpoint: 'returns', method: 'POST', path, body } as const
  let id: string | undefined
  try {
    // A return cannot be looked up by its number, but told a second time it is refused where it is there: that finds out too.
    id = (await (write.isSettling ? client.write(telling) : effect(client, write, telling))).id
  } catch (error) {
    if (refusalBehind(error)?.code !== numberExists) throw error
    write.note('done')
  }
  try {
    id ??= text(await orderNumbered(client, number), 'Id') ?? undefined
    if (id === undefined) return number
    const made = await client.document({ endpoint: 'returns', path: [...path, id], roots: ['ReturnOrder', 'Order'] })
    return text(made, 'ReturnAuthorisationNumber') ?? number
  } catch (error) {
    // It is made, whatever can be read of it now; a repeat could not find out more.
    if (error instanceof ApiError) return number
    throw error
  }
}
