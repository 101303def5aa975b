import type { Db } from '../../../database/db.ts'
import { orderNumberTaken, sortErrors } from '../../../domain/orders/order-rules.ts'
import { type ValidatedReturn, validateReturn } from '../../../domain/orders/return-rules.ts'
import { isAtLeast } from '../../../domain/values/release.ts'
import { ApiError, type FieldError, notFound, toApiError } from '../../../errors/api-error.ts'
import { throwIfAny } from '../../../errors/throw-if-any.ts'
import { addJob } from '../../../store/jobs/jobs.ts'
import { beginChange } from '../../../store/lists/change-timestamp.ts'
import { touchOrder } from '../../../store/orders/lines.ts'
import { lockOrder } from '../../../store/orders/orders.ts'
import { findReturn, insertReturn, insertReturnLines, isReturnNumberTaken } from '../../../store/orders/returns.ts'
import { NotApplied, type Write } from '../../../writes/write.ts'
import type { OrderWrites } from '../../port/orders.ts'
import type { Client } from '../client/client.ts'
import { createRejection } from '../client/errors.ts'
import { performWrite } from '../client/perform-write.ts'
import { featureReleases, type ReleaseReader } from '../client/release.ts'
import { findRetailApiError, numberExists } from '../client/retail-api-error.ts'
import { addOwnershipSuffix, deriveNumber } from '../mapping/numbers.ts'
import { buildReturnPayload, checkReturn, type NewReturn, normalizeReasonCode } from '../mapping/return-to-xml.ts'
import { buildReturnsPath, doesReturnExist, type ReturnKey } from '../queries/created-returns.ts'
import { fetchReturnByNumber } from '../queries/order-search.ts'
import { refreshOrder } from '../queries/stored-orders.ts'
import type { Upstream } from '../queries/upstream.ts'
import { readText } from '../xml/values.ts'

/**
 * Creates returns in the back office. The back office accepts more than was bought, so the stored order limits the quantities, and only
 * one return of an order is in flight at a time. The syncs read the effects on stock, sales and rewards.
 */
export const createReturn =
  (upstream: Upstream): OrderWrites['createReturn'] =>
  async (write, orderId, input) => {
    const { service, keys, stage, read } = write
    const current = await refreshOrder(upstream, write, orderId)
    await requireReturns(upstream.release)
    if (!current) throw notFound('order')
    const { order, lines } = current
    const { customerId: personId } = order
    if (personId === null) throw notFound('customer')
    if (write.isDryRun && order.pickupStoreNumber !== null) throw createRejection('returns', notReturnable)
    const returnNumber = input.returnNumber ?? undefined
    const restock = input.restock ?? true
    const { returnReasons } = service.settings
    const validate = (returnable: typeof lines) =>
      validateReturn(input, { number: order.number, lines: returnable }, service.settings)
    const byStoredLines = validate(lines)
    const byReturnableLines = current.returnableLines ? validate(current.returnableLines) : byStoredLines
    const reasonCodes = returnReasons
      .map(({ code }) => code)
      .filter(code => byStoredLines.lines.some(line => line.reasonCode === code))
    const reasonIds = await upstream.returnReasons.getIds(reasonCodes)
    const numberTakenError = orderNumberTaken('/returnNumber', `Return number ${returnNumber} is already used.`)
    const findNumber = (db: Db) => findFreeNumber(db, write, order.id, returnNumber)
    // A derived number needs no lock, because no other order can have it.
    const lock = returnNumber !== undefined && { names: [getReturnNumberLock(returnNumber)], untilResolved: true }
    const number = await (lock ? stage(findNumber, lock) : read(findNumber))
    const errors = [...byReturnableLines.errors, ...checkReturn(byReturnableLines.lines, returnReasons, reasonIds)]
    if (number === undefined) {
      throwIfAny(sortErrors([...errors, numberTakenError]))
      throw toApiError([numberTakenError])
    }
    const upstreamNumber =
      returnNumber === undefined ? number : addOwnershipSuffix(keys, service, order.id, returnNumber)
    const key = { order: { id: order.id, number: order.number, personId }, number: upstreamNumber }
    // An earlier attempt may have created what is rejected now, or what the back office has already taken back.
    const isInDoubt = errors.length > 0 || current.returnableLines !== undefined
    const isCreated = isInDoubt && (await wasCreatedEarlier(upstream.client, write, key, byStoredLines))
    if (!isCreated) throwIfAny(sortErrors(errors))
    const { allocations, lines: returned } = isCreated ? byStoredLines : byReturnableLines

    const created = await submitReturn(upstream.client, write, key, isCreated, {
      restock,
      lines: returned,
      reasonIds,
      skuIds: new Map(lines.map(line => [line.sku, line.skuId])),
    })
    return async tx => {
      const locked = await lockOrder(tx, service, { id: order.id })
      if (!locked) throw new Error(`order ${order.id} has been deleted`)
      const inserted = await insertReturn(tx, service, locked, { number, restock, ...created })
      if (!inserted) throw toApiError([numberTakenError])
      await insertReturnLines(tx, service, locked, inserted.id, returned, allocations)
      await touchOrder(tx, service, locked, await beginChange(tx, service, ['sales_order']))
      await addJob(tx, service.id, 'refresh-stock', { subject: order.id })
      const record = await findReturn(tx, service, inserted.id)
      if (!record) throw new Error(`return ${inserted.id} is missing after its insert`)
      return { id: inserted.id, ...record }
    }
  }

/** The back office accepts no return of an order that the shopper has picked up. */
const notReturnable = 5087

/** Returns the name of the lock of a caller's return number. */
const getReturnNumberLock = (number: string) => `return number ${number}`

/** Lists the service's return reasons that the back office also has. It accepts no others. */
export const listReturnReasons =
  ({ returnReasons }: Upstream): OrderWrites['returnReasons'] =>
  async ({ settings }) => {
    // If the back office is unavailable, the cached reasons are sufficient.
    const ids = await returnReasons
      .getIds(settings.returnReasons.map(({ code }) => code))
      .catch(() => returnReasons.getIds([]))
    return settings.returnReasons.filter(({ code }) => ids.has(normalizeReasonCode(code)))
  }

/** Throws if the release has no returns. An unknown release is accepted: the call itself shows whether it supports them. */
async function requireReturns(release: ReleaseReader) {
  const installed = await release.read()
  if (installed === undefined || isAtLeast(installed, featureReleases.returns)) return
  throw new ApiError(
    'capability_unavailable',
    `Returns need back-office version ${featureReleases.returns} or later. Version ${installed} is installed.`,
  )
}

/**
 * Returns the caller's number, or undefined if it is taken. Without a caller's number, derives one from the write and the order; if that
 * was already used, the next one is tried.
 */
async function findFreeNumber(
  db: Db,
  { service, reference }: Write,
  orderId: string,
  returnNumber: string | undefined,
) {
  if (returnNumber !== undefined)
    return (await isReturnNumberTaken(db, service, returnNumber)) ? undefined : returnNumber
  for (let attempt = 0; ; attempt++) {
    const number = deriveNumber('R', `${reference} ${orderId}`, attempt)
    if (!(await isReturnNumberTaken(db, service, number))) return number
  }
}

/**
 * True if an earlier attempt created the return that this attempt would reject. Later changes don't count against it. If an earlier
 * attempt is in doubt, the back office is always queried. Otherwise only for a keyed retry without errors, to limit the queries.
 * Throws `outcome_unknown` if an in-doubt attempt can't be resolved.
 */
async function wasCreatedEarlier(client: Client, write: Write, key: ReturnKey, { errors }: ValidatedReturn) {
  const isInDoubt = write.previouslyInDoubt()
  const canExist = isInDoubt ? !errors.some(isAboutUnits) : write.isKeyed && errors.length === 0
  const exists = canExist && (await doesReturnExist(client, key))
  if (exists === undefined && isInDoubt) throw createUnknownOutcome()
  return exists === true
}

/** True for errors that no other return can have caused, because only one return of an order is in flight. */
const isAboutUnits = ({ code }: FieldError) => code === 'sku_not_on_order' || code === 'quantity_exceeds_returnable'

const createUnknownOutcome = () => new ApiError('outcome_unknown', undefined, { retryAfter: 2 })

/**
 * Submits a return, unless an earlier attempt has. Only this service can create its number. Returns the back office's ID, if known, and the
 * authorisation number that the shopper writes on the parcel. If it can't be read, the return's own number takes its place, which the back
 * office also accepts.
 */
async function submitReturn(
  client: Client,
  write: Write,
  key: ReturnKey,
  isCreated: boolean,
  body: Pick<NewReturn, 'restock' | 'lines' | 'reasonIds' | 'skuIds'>,
): Promise<{ authorisation: string; backOfficeId: string | null }> {
  const { order, number } = key
  const path = buildReturnsPath(order)
  if (write.isDryRun) return { authorisation: number, backOfficeId: null }
  const create = async () => {
    try {
      const request = { endpoint: 'returns', method: 'POST', path } as const
      return (await performWrite(client, write, { ...request, body: buildReturnPayload({ ...body, ...key }) })).id
    } catch (error) {
      if (!(await isEarlierReturn(client, write, key, error))) throw error
      write.recordEffect('applied')
      return
    }
  }
  let id: string | undefined
  if (isCreated) write.recordEffect('applied')
  else id = await create()
  try {
    id ??= readText(await fetchReturnByNumber(client, number), 'Id') ?? undefined
    if (id === undefined) return { authorisation: number, backOfficeId: null }
    const created = await client.document({ endpoint: 'returns', path: [...path, id], roots: ['ReturnOrder', 'Order'] })
    return { authorisation: readText(created, 'ReturnAuthorisationNumber') ?? number, backOfficeId: id }
  } catch (error) {
    // The return exists even if it can't be read now. A retry could not find out more.
    if (error instanceof ApiError) return { authorisation: number, backOfficeId: id ?? null }
    throw error
  }
}

/** True if the submission failed because an earlier attempt created the return. Throws `outcome_unknown` if that can't be determined. */
async function isEarlierReturn(client: Client, write: Write, key: ReturnKey, error: unknown): Promise<boolean> {
  const rejection = findRetailApiError(error)
  if (rejection?.code === numberExists) return true
  // After an in-doubt attempt, the back office can report another error before it reports the duplicate number.
  if (!(error instanceof NotApplied || (rejection && write.previouslyInDoubt()))) return false
  const exists = await doesReturnExist(client, key)
  if (exists === undefined) throw createUnknownOutcome()
  return exists
}
