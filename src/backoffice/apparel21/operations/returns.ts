import type { Db } from '../../../database/db.ts'
import { orderNumberTaken, sortErrors } from '../../../domain/orders/order-rules.ts'
import { type ValidatedReturn, validateReturn } from '../../../domain/orders/return-rules.ts'
import { isAtLeast } from '../../../domain/values/release.ts'
import { ApiError, type FieldError, notFound, toApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { beginChange } from '../../../store/lists/change-timestamp.ts'
import { stampOrder } from '../../../store/orders/lines.ts'
import { holdOrder } from '../../../store/orders/orders.ts'
import { insertReturn, insertReturnLines, returnNumberTaken, returnRecord } from '../../../store/orders/returns.ts'
import { NotApplied, type Write } from '../../../writes/write.ts'
import type { OrderWrites } from '../../port/orders.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import { featureReleases, type ReleaseReader } from '../client/release.ts'
import { findRetailApiError, numberExists } from '../client/retail-api-error.ts'
import { addOwnershipSuffix, deriveNumber } from '../mapping/numbers.ts'
import { buildReturnPayload, checkReturn, type NewReturn, normalizeReasonCode } from '../mapping/return-to-xml.ts'
import { buildReturnsPath, doesReturnExist, type ReturnKey } from '../queries/created-returns.ts'
import { fetchOrderByNumber } from '../queries/order-search.ts'
import { refreshOrder } from '../queries/stored-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import { readText } from '../xml/values.ts'

/**
 * Makes returns with the back office. It does not refuse what is more than was bought: our tables do, and no two returns of an order are
 * under way at once. What a return does to stock, sales and rewards comes back with the syncs.
 */
export const createReturn =
  (upstream: Upstream): OrderWrites['createReturn'] =>
  async (write, orderId, input) => {
    const { service, keys, step, read } = write
    const known = await refreshOrder(upstream, write, orderId)
    await requireReturns(upstream.release)
    if (!known) throw notFound('order')
    const { order, lines } = known
    const { customerId: personId } = order
    if (personId === null) throw notFound('customer')
    const returnNumber = input.returnNumber ?? undefined
    const restock = input.restock ?? true
    const { returnReasons } = service.settings
    const judge = (left: typeof lines) => validateReturn(input, { number: order.number, lines: left }, service.settings)
    const asOurs = judge(lines)
    const asThere = known.returnableLines ? judge(known.returnableLines) : asOurs
    const named = returnReasons
      .map(({ code }) => code)
      .filter(code => asOurs.lines.some(line => line.reasonCode === code))
    const reasonIds = await upstream.returnReasons.getIds(named)
    const taken = orderNumberTaken('/returnNumber', `There is a return ${returnNumber} already.`)
    const free = (db: Db) => findFreeNumber(db, write, order.id, returnNumber)
    // A number of our own making is no other order's.
    const holding = returnNumber !== undefined && { names: [getReturnNumberLock(returnNumber)], untilKnown: true }
    const number = await (holding ? step(free, holding) : read(free))
    const faults = [...asThere.errors, ...checkReturn(asThere.lines, returnReasons, reasonIds)]
    if (number === undefined) {
      throwIfAny(sortErrors([...faults, taken]))
      throw toApiError([taken])
    }
    const there = returnNumber === undefined ? number : addOwnershipSuffix(keys, service, order.id, returnNumber)
    const place = { order: { id: order.id, number: order.number, personId }, number: there }
    // What is refused now, or has come back there, an attempt before this one may have returned.
    const isInDoubt = faults.length > 0 || known.returnableLines !== undefined
    const isMade = isInDoubt && (await wasCreatedEarlier(upstream.client, write, place, asOurs))
    if (!isMade) throwIfAny(sortErrors(faults))
    const { allocations: portions, lines: returned } = isMade ? asOurs : asThere

    const authorisation = await submitReturn(upstream.client, write, place, isMade, {
      restock,
      lines: returned,
      reasonIds,
      skuIds: new Map(lines.map(line => [line.sku, line.skuId])),
    })
    return async tx => {
      const held = await holdOrder(tx, service, { id: order.id })
      if (!held) throw new Error('no order is ever deleted')
      const made = await insertReturn(tx, service, held, { number, restock, authorisation })
      if (!made) throw toApiError([taken])
      await insertReturnLines(tx, service, held, made.id, returned, portions)
      await stampOrder(tx, service, held, await beginChange(tx, service, ['sales_order']))
      const record = await returnRecord(tx, service, made.id)
      if (!record) throw new Error('what was just written is there')
      return { id: made.id, ...record }
    }
  }

/** What a return with a number of the caller's is held by. */
const getReturnNumberLock = (number: string) => `return number ${number}`

/** The reasons of a service that the back office has as well: it takes no others. */
export const listReturnReasons =
  ({ returnReasons }: Upstream): OrderWrites['returnReasons'] =>
  async ({ settings }) => {
    // Where nobody can say what is new, what was known will do.
    const ids = await returnReasons
      .getIds(settings.returnReasons.map(({ code }) => code))
      .catch(() => returnReasons.getIds([]))
    return settings.returnReasons.filter(({ code }) => ids.has(normalizeReasonCode(code)))
  }

/** A release that is not known is given a try: the call itself will tell. */
async function requireReturns(release: ReleaseReader) {
  const known = await release.read()
  if (known === undefined || isAtLeast(known, featureReleases.returns)) return
  throw new ApiError(
    'capability_unavailable',
    `Returns need back-office version ${featureReleases.returns} or later; this one is ${known}.`,
  )
}

/** The number that is given, undefined where it is taken; else that of this write's return of this order, or, where it was used long ago, the one that follows. */
async function findFreeNumber(db: Db, { service, reference }: Write, orderId: string, given: string | undefined) {
  if (given !== undefined) return (await returnNumberTaken(db, service, given)) ? undefined : given
  for (let turn = 0; ; turn++) {
    const number = deriveNumber('R', `${reference} ${orderId}`, turn)
    if (!(await returnNumberTaken(db, service, number))) return number
  }
}

/**
 * Whether an attempt before has made a return that is refused now, or whose lines have come back there: what has changed since says nothing
 * against one that head office has. After an attempt that was left open that is asked whatever is said of its reasons; else not about
 * everybody's slips. Throws where it has to be known, and nobody can say.
 */
async function wasCreatedEarlier(client: Client, write: Write, place: ReturnKey, { errors: faults }: ValidatedReturn) {
  const isOpen = write.wasOpen()
  const mayBe = isOpen ? !faults.some(isAboutUnits) : write.isKeyed && faults.length === 0
  const isThere = mayBe && (await doesReturnExist(client, place))
  if (isThere === undefined && isOpen) throw createUnknownOutcome()
  return isThere === true
}

/** What no other return can have changed: while one of an order is open there is no other one. */
const isAboutUnits = ({ code }: FieldError) => code === 'sku_not_on_order' || code === 'quantity_exceeds_returnable'

const createUnknownOutcome = () => new ApiError('outcome_unknown', undefined, { retryAfter: 2 })

/**
 * Makes a return, unless an earlier attempt has: only this service makes its number. Returns the number that the shopper writes on the
 * parcel; where that cannot be found out any more, the return's own, by which the head office finds it as well.
 */
async function submitReturn(
  client: Client,
  write: Write,
  place: ReturnKey,
  isMade: boolean,
  body: Pick<NewReturn, 'restock' | 'lines' | 'reasonIds' | 'skuIds'>,
): Promise<string> {
  const { order, number } = place
  const path = buildReturnsPath(order)
  if (write.isTrial) return number
  const make = async () => {
    try {
      const telling = { endpoint: 'returns', method: 'POST', path } as const
      return (await performWrite(client, write, { ...telling, body: buildReturnPayload({ ...body, ...place }) })).id
    } catch (error) {
      if (!(await isEarlierReturn(client, write, place, error))) throw error
      write.note('done')
      return
    }
  }
  let id: string | undefined
  if (isMade) write.note('done')
  else id = await make()
  try {
    id ??= readText(await fetchOrderByNumber(client, number), 'Id') ?? undefined
    if (id === undefined) return number
    const made = await client.document({ endpoint: 'returns', path: [...path, id], roots: ['ReturnOrder', 'Order'] })
    return readText(made, 'ReturnAuthorisationNumber') ?? number
  } catch (error) {
    // It is made, whatever can be read of it now; a repeat could not find out more.
    if (error instanceof ApiError) return number
    throw error
  }
}

/** Whether a return was not made because an earlier attempt at it has made it. Throws where that cannot be found out. */
async function isEarlierReturn(client: Client, write: Write, place: ReturnKey, error: unknown): Promise<boolean> {
  const refusal = findRetailApiError(error)
  if (refusal?.code === numberExists) return true
  // After an attempt that was left open anything may be said of its return before its number is.
  if (!(error instanceof NotApplied || (refusal && write.wasOpen()))) return false
  const isThere = await doesReturnExist(client, place)
  if (isThere === undefined) throw createUnknownOutcome()
  return isThere
}
