import { randomUUIDv7 } from 'node:crypto'
import type { Db } from '../database/db.ts'
import {
  checkAccountReservations,
  checkLines,
  checkLiveLines,
  defaultSeconds,
  RemovedReservation,
  Reservation,
  ReservationChange,
  ReservationInput,
  releaseMoves,
} from '../domain/inventory/reservations.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { type FieldError, notFound } from '../errors/api-error.ts'
import { throwIfAny } from '../errors/throw-if-any.ts'
import { EmptyBody } from '../http/body/body.ts'
import { del, get, post, put } from '../http/routing/route-definitions.ts'
import type { WriteContext } from '../http/routing/writes.ts'
import { findSkus } from '../store/catalog/skus.ts'
import { findStoresByNumber } from '../store/catalog/stores.ts'
import {
  countReservations,
  endReservation,
  findReservation,
  type LockedReservation,
  lockReservation,
  type ReservationLine,
  storeReservation,
} from '../store/inventory/reservations.ts'
import { lockReservedStock, lockStock, moveStock, readSellable } from '../store/inventory/stock.ts'
import { findStockSources, hasScarceSku, markScarce, shareStockSources } from '../store/inventory/stock-sources.ts'
import { beginChange } from '../store/lists/change-timestamp.ts'

const tag = 'Inventory'
const path = '/reservations/:id'
const params = { id: { description: 'The reservation.', example: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91' } }
const buildPath = (id: string) => `/reservations/${id}`
const errors = ['insufficient_stock', 'unknown_sku', 'rate_limited', 'capability_unavailable'] as const

/** Stock reservations of a checkout. */
export const reservations = [
  post(
    '/reservations',
    {
      operationId: 'reserveStock',
      tag,
      role: 'visitor',
      summary: 'Reserve stock',
      description:
        'Reserved units can only be ordered with this reservation, until it expires. Without `partial`, all units are reserved or none, except that a SKU with `allowBackorder` reserves the units that there are. An account can have at most 1,000 reservations.',
      body: ReservationInput,
      generated: ['id', 'expiresAt'],
      response: Reservation,
      errors,
    },
    async context => {
      const { service, username, body } = context
      if (body.live) await refreshLines(context, body.lines)
      if (!body.partial) await rejectSoldOut(context)
      return async tx => {
        const [account, requested] = await Promise.all([
          countReservations(tx, service, username),
          findRequestedStock(tx, service, body.lines),
        ])
        const error = checkAccountReservations(account)
        if (error) throw error
        const reservation = { id: randomUUIDv7(), reference: body.reference ?? null, lines: [] }
        return reserve(tx, service, { reservation, requested, username, ...body })
      }
    },
  ),

  get(
    path,
    {
      operationId: 'getReservation',
      tag,
      summary: 'Get a reservation',
      description: 'A reservation that has expired, was released or was used by an order returns 404.',
      params,
      response: Reservation,
      recordName: 'reservation',
    },
    async ({ db, service, params: { id } }) => {
      const data = await findReservation(db, service, id)
      return data && { data }
    },
  ),

  put(
    path,
    {
      operationId: 'updateReservation',
      tag,
      role: 'visitor',
      summary: 'Renew or change a reservation',
      description:
        'The reservation expires `seconds` from now. With `lines`, they replace the reserved units. If that fails, the reservation stays.',
      params,
      body: ReservationChange,
      response: Reservation,
      errors,
    },
    async context => {
      const { service, username, body } = context
      const { id } = context.params
      if (body.live)
        await refreshLines(
          context,
          body.lines ?? (await context.read(db => findReservation(db, service, id)))?.lines ?? [],
        )
      return async tx => {
        const reservation = await lockReservation(tx, service, id)
        if (!reservation) throw notFound('reservation')
        const requested = body.lines ? await findRequestedStock(tx, service, body.lines) : reservation.lines
        const { reference = reservation.reference } = body
        return reserve(tx, service, { ...body, reservation: { ...reservation, reference }, requested, username })
      }
    },
  ),

  del(
    path,
    {
      operationId: 'releaseReservation',
      tag,
      role: 'visitor',
      summary: 'Release a reservation',
      description: 'The units can be sold again at once.',
      params,
      body: EmptyBody,
      response: RemovedReservation,
    },
    ({ service, params: { id } }) =>
      async tx => {
        const [reservation, , change] = await Promise.all([
          lockReservation(tx, service, id),
          lockReservedStock(tx, service, id),
          beginChange(tx, service, ['stock']),
        ])
        if (!reservation) throw notFound('reservation')
        const moves = releaseMoves(reservation.lines)
        await Promise.all([endReservation(tx, service, id), moveStock(tx, service, change, moves)])
        return { data: { id }, subject: buildPath(id) }
      },
  ),
]

/** Stores the current stock of the back office. Nothing is locked during the calls, and a repeat makes them again. */
async function refreshLines({ service, backOffice, read }: WriteContext, lines: readonly { sku: string }[]) {
  throwIfAny(checkLiveLines(lines))
  const skus = await read(db =>
    findSkus(
      db,
      service,
      lines.map(({ sku }) => sku),
    ),
  )
  await read(db =>
    backOffice.refreshStock(
      { db, service },
      skus.map(({ skuId }) => skuId),
    ),
  )
}

/** Rejects a reservation of scarce SKUs before it waits for a connection, like an order of the embedded back office. */
async function rejectSoldOut({ service, read, body: { lines } }: WriteContext<ReservationInput>) {
  const skus = lines.map(({ sku }) => sku)
  if (!hasScarceSku(service, skus) || lines.some(({ storeNumber }) => storeNumber)) return
  const sources = await read(db => shareStockSources(db, service, skus, undefined))
  const requested = lines.flatMap(({ sku, quantity }, i) => {
    const source = sources.get(sku)
    return source ? [{ ...source, sku, quantity, requested: quantity, sequence: i + 1 }] : []
  })
  // Otherwise a SKU may be unknown, which is another error.
  if (requested.length === lines.length) requireUnits(service, requested)
}

interface RequestedLine extends Omit<ReservationLine, 'storeId'> {
  /** Undefined in a line that is renewed. */
  sku?: string
  /** Undefined if no store keeps the SKU. */
  storeId: string | undefined
  /** The units that a new reservation can have, before the stock is locked. Undefined if they were not read. */
  units?: number | undefined
  allowBackorder?: boolean
}

/** Finds the stock of the requested lines. Throws if a SKU or a store is unknown. */
async function findRequestedStock(
  tx: Db,
  service: Service,
  lines: ReservationInput['lines'],
): Promise<RequestedLine[]> {
  const skus = lines.map(({ sku }) => sku)
  const numbers = [...new Set(lines.flatMap(({ storeNumber }) => storeNumber ?? []))]
  const [variants, sources, stores] = await Promise.all([
    findSkus(tx, service, skus),
    findStockSources(tx, service, skus, undefined),
    numbers.length ? findStoresByNumber(tx, service, numbers) : [],
  ])
  const bySku = new Map(variants.map(variant => [variant.sku, variant]))
  const storeIds = new Map(stores.map(store => [store.store_number, store.store_id]))
  throwIfAny([
    ...checkLines(lines),
    ...lines.flatMap(({ sku, storeNumber }, i): FieldError[] => {
      if (!bySku.has(sku)) return [{ pointer: `/lines/${i}/sku`, code: 'unknown_sku', detail: `SKU ${sku} not found.` }]
      if (!storeNumber || storeIds.has(storeNumber)) return []
      return [{ pointer: `/lines/${i}/storeNumber`, code: 'invalid_field', detail: `Store ${storeNumber} not found.` }]
    }),
  ])
  return lines.map(({ sku, quantity, storeNumber }, i) => ({
    sku,
    storeId: storeNumber ? storeIds.get(storeNumber) : sources.get(sku)?.storeId,
    units: storeNumber ? undefined : (sources.get(sku)?.units ?? 0),
    skuId: bySku.get(sku)?.skuId ?? '',
    allowBackorder: bySku.get(sku)?.allowBackorder ?? false,
    quantity,
    requested: quantity,
    sequence: i + 1,
  }))
}

interface ReservationWrite {
  reservation: LockedReservation
  requested: readonly RequestedLine[]
  username: string
  seconds?: number
  partial?: boolean
}

/** Replaces the units of a reservation and renews it. Throws `insufficient_stock` if it isn't partial and units are missing. */
async function reserve(
  tx: Db,
  service: Service,
  { reservation, requested, username, seconds = defaultSeconds, partial = false }: ReservationWrite,
) {
  const { id, reference } = reservation
  const stockLines = requested.flatMap(({ storeId, ...line }) => (storeId === undefined ? [] : [{ ...line, storeId }]))
  const released = releaseMoves(reservation.lines)
  // Rejects before stock is locked: a crowd that gets none of the last units must not delay those who get them.
  if (!partial) {
    const units = released.length ? undefined : collectUnits(requested)
    requireUnits(service, requested, units ?? (await readSellable(tx, service, stockLines, id)))
  }
  const [, sellable, change] = await Promise.all([
    lockStock(tx, service, [...stockLines, ...released]),
    readSellable(tx, service, stockLines, id),
    beginChange(tx, service, ['stock']),
  ])
  if (!partial) requireUnits(service, requested, sellable)
  const lines = stockLines.flatMap(line => {
    const quantity = Math.min(line.quantity, sellable.get(line.skuId) ?? 0)
    return quantity > 0 ? [{ ...line, quantity }] : []
  })
  const moves = [...released, ...lines.map(({ storeId, skuId, quantity }) => ({ storeId, skuId, reserved: quantity }))]
  const [, , data] = await Promise.all([
    storeReservation(tx, service, { id, reference, account: username, seconds, hasLines: released.length > 0 }, lines),
    moveStock(tx, service, change, moves),
    findReservation(tx, service, id),
  ])
  if (!data) throw new Error('stored reservation not found')
  return { data, subject: buildPath(id) }
}

/** Returns the units of each SKU that were read with its store. Returns undefined if those of a line were not read. */
const collectUnits = (requested: readonly RequestedLine[]) =>
  requested.every(({ units }) => units !== undefined)
    ? new Map(requested.map(({ skuId, units = 0 }) => [skuId, units]))
    : undefined

/** Throws `insufficient_stock` if lines have too few units. `sellable`: the units by SKU ID. Default: those that were read with the lines. */
function requireUnits(service: Service, requested: readonly RequestedLine[], sellable = collectUnits(requested)) {
  const shortages = checkUnits(requested, sellable ?? new Map())
  if (shortages.length)
    markScarce(
      service,
      requested.flatMap(({ sku }) => sku ?? []),
    )
  throwIfAny(shortages)
}

/** Returns an error for each line with too few units. `sellable`: the units by SKU ID. */
const checkUnits = (requested: readonly RequestedLine[], sellable: ReadonlyMap<string, number>): FieldError[] =>
  requested.flatMap(({ storeId, skuId, quantity, sequence, allowBackorder }) => {
    const available = storeId === undefined ? 0 : (sellable.get(skuId) ?? 0)
    if (allowBackorder || quantity <= available) return []
    const detail = `${quantity} were requested, but only ${available} can be reserved.`
    const pointer = `/lines/${sequence - 1}/quantity`
    return [{ pointer, code: 'insufficient_stock', detail, available, requested: quantity }]
  })
