import { type Static, Type } from '../../schemas/schemas.ts'
import { Id, Integer, LocalTime, Nullable, Optional, Text } from '../values/fields.ts'
import { orderLineSelection } from './orders.ts'
import { carrier, trackingNumber, trackingUrl } from './tracking.ts'

const sku = Id('The e-commerce SKU.', 'MH01-XS-Black')
const quantity = Integer('Units in the shipment.', 1, { minimum: 1 })
const storeNumber = Id('The store that the shipment leaves from.', '123')

/** A parcel of an order. */
export type Shipment = Static<typeof Shipment>
export const Shipment = Type.Object(
  {
    id: Id('The ID of the shipment.', '019a7341-52c8-7e0f-8d64-91b7f3a2c5d1'),
    orderId: Id('The order of the shipment.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
    orderNumber: Text('The number of the order.', 'W0000123', 30),
    carrier: Nullable(carrier),
    trackingNumber: Nullable(trackingNumber),
    trackingUrl: Nullable(trackingUrl),
    storeNumber: Nullable(storeNumber),
    shippedAt: Nullable(LocalTime('When the shipment was dispatched. `null` if unknown.')),
    lines: Type.Array(
      Type.Object(
        {
          orderLineId: Nullable(Id('The line of the order. `null` if the item is not on the order.', '1')),
          sku,
          quantity,
        },
        { $id: 'ShipmentLine', additionalProperties: false },
      ),
      { description: 'The content, by order line.' },
    ),
    cartons: Type.Array(
      Type.Object(
        {
          number: Nullable(Text('The number of the carton.', '1', 50)),
          lines: Type.Array(Type.Object({ sku, quantity }, { $id: 'CartonLine', additionalProperties: false })),
        },
        { $id: 'Carton', additionalProperties: false },
      ),
      { description: 'The content by carton. Empty if the back office does not report cartons.' },
    ),
    updateTimeStamp: LocalTime('When the shipment last changed.'),
  },
  { $id: 'Shipment', additionalProperties: false },
)

/** The body of a new shipment. */
export type ShipmentInput = Static<typeof ShipmentInput>
export const ShipmentInput = Type.Object(
  {
    lines: orderLineSelection,
    carrier: Optional(carrier),
    trackingNumber: Optional(trackingNumber),
    trackingUrl: Optional(trackingUrl),
    storeNumber: Optional(storeNumber),
  },
  { $id: 'ShipmentInput', additionalProperties: false },
)

/** The carrier and tracking of a shipment. */
export type Tracking = Pick<ShipmentInput, 'carrier' | 'trackingNumber' | 'trackingUrl'>

/** A parcel of an order, with its content by the back office's SKUs. */
export interface ReportedShipment {
  carrier: string | null
  trackingNumber: string | null
  trackingUrl: string | null
  /** RFC 3339. */
  shippedAt: string | null
  contents: { skuId: string; quantity: number }[]
  cartons: { number: string | null; contents: { skuId: string; quantity: number }[] }[]
}

/** A shipment with its content by order line, ready to be stored. `key` distinguishes the shipments of the order. */
export interface AllocatedShipment
  extends Pick<ReportedShipment, 'carrier' | 'trackingNumber' | 'trackingUrl' | 'shippedAt'> {
  key: string
  /** The store that it left from. */
  storeId?: string | null
  lines: { orderSequence: number | null; sku: string; quantity: number }[]
  cartons: { number: string | null; lines: { sku: string; quantity: number }[] }[]
}

interface ShippableLine {
  sequence: number
  sku: string
  skuId: string
  quantity: number
}

/**
 * Allocates the content of an order's shipments to its lines, in order. Units beyond the ordered ones, and items that are not on the order,
 * get no line.
 */
export function allocateShipments(
  shipments: readonly ReportedShipment[],
  lines: readonly ShippableLine[],
): AllocatedShipment[] {
  const remaining = lines.map(line => ({ ...line }))
  const toSku = (skuId: string) => lines.find(line => line.skuId === skuId)?.sku ?? skuId
  // Shipments with the same tracking number get the keys `X`, `X 2`, `X 3`.
  const counts = new Map<string, number>()
  return shipments.map(({ contents, cartons, ...shipment }) => {
    const baseKey = shipment.trackingNumber ?? shipment.shippedAt ?? ''
    const count = (counts.get(baseKey) ?? 0) + 1
    counts.set(baseKey, count)
    return {
      ...shipment,
      key: count === 1 ? baseKey : `${baseKey} ${count}`,
      lines: contents.flatMap(({ skuId, quantity: shipped }) => {
        const { lines: allocated, units } = allocateUnits(remaining, skuId, shipped)
        return units < shipped
          ? [...allocated, { orderSequence: null, sku: toSku(skuId), quantity: shipped - units }]
          : allocated
      }),
      cartons: cartons.map(carton => ({
        number: carton.number,
        lines: carton.contents.map(content => ({ sku: toSku(content.skuId), quantity: content.quantity })),
      })),
    }
  })
}

/** Takes up to `maxUnits` of a SKU out of the remaining lines. Returns the units by line, and their sum. */
function allocateUnits(remaining: readonly ShippableLine[], skuId: string, maxUnits: number) {
  const lines: AllocatedShipment['lines'] = []
  let units = 0
  for (const line of remaining) {
    const count = line.skuId === skuId ? Math.min(maxUnits - units, line.quantity) : 0
    if (count === 0) continue
    line.quantity -= count
    units += count
    lines.push({ orderSequence: line.sequence, sku: line.sku, quantity: count })
  }
  return { lines, units }
}
