import type { ReportedShipment } from '../../../domain/orders/shipments.ts'
import { findElement, findElements, parseLocalTime, readInteger, readText } from '../xml/values.ts'
import type { Xml } from '../xml/xml.ts'

/** Parses the shipments of an order. Contents without a SKU or quantity are omitted. */
export const parseShipments = (root: Xml, timeZone: string): ReportedShipment[] =>
  findElements(root, 'Shipment').map(shipment => ({
    carrier: readText(shipment, 'CarrierName'),
    trackingNumber: readText(shipment, 'ConNote'),
    trackingUrl: readTrackingUrl(readText(shipment, 'CarrierUrl')),
    shippedAt: toInstant(readText(shipment, 'DespatchDate'), timeZone),
    contents: findElements(shipment, 'Contents', 'Content').flatMap(parseContent),
    cartons: (findElement(shipment, 'PackedCartonContents')?.children ?? []).map(carton => ({
      number: readCartonNumber(carton),
      contents: findContents(carton).flatMap(parseContent),
    })),
  }))

/**
 * Derives the shipments of an order from the carriers and consignment notes (tracking numbers) of its lines. Needed if the release of the back
 * office doesn't return shipments, or returns none for the order. Lines without a consignment note are omitted.
 */
export function deriveShipments(order: Xml): ReportedShipment[] {
  const lines = findElements(order, 'OrderDetails', 'OrderDetail').filter(line => readText(line, 'ConNote'))
  const byNote = Map.groupBy(lines, line => `${readText(line, 'Carrier')} ${readText(line, 'ConNote')}`)
  return [...byNote.values()].flatMap(group => {
    const [first] = group
    return first
      ? {
          carrier: readText(first, 'Carrier'),
          trackingNumber: readText(first, 'ConNote'),
          trackingUrl: readTrackingUrl(readText(first, 'CarrierUrl')),
          shippedAt: null,
          contents: group.flatMap(parseContent),
          cartons: [],
        }
      : []
  })
}

/** Returns the tracking numbers (consignment notes) of an order's lines. */
export const readTrackingNumbers = (order: Xml): string[] =>
  findElements(order, 'OrderDetails', 'OrderDetail').flatMap(line => readText(line, 'ConNote') ?? [])

function parseContent(content: Xml): { skuId: string; quantity: number }[] {
  const [skuId, quantity] = [readText(content, 'SkuId'), readInteger(content, 'Quantity')]
  return skuId && quantity !== null && quantity > 0 ? [{ skuId, quantity }] : []
}

/** The guide doesn't name the elements of a carton: its number is the first value whose name begins with `Carton`. */
const readCartonNumber = (carton: Xml) => {
  const match = carton.children.find(({ name }) => /^carton/i.test(name))
  return match ? readText(carton, match.name) : null
}

const findContents = (element: Xml): Xml[] =>
  element.children.flatMap(child => (child.name === 'Content' ? [child] : findContents(child)))

/** Returns a web address as it is. Any other text is omitted, because clients link to it. */
export const readTrackingUrl = (text: string | null) =>
  text !== null && /^https?:\/\//i.test(text) && text.length <= 500 && URL.canParse(text) ? text : null

function toInstant(text: string | null, timeZone: string) {
  const local = parseLocalTime(text, timeZone)
  return local === null ? null : Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).toInstant().toString()
}
